"""The player: a pass through a graph, step by step."""
