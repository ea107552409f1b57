"""Readers of every kind of graph, and the words for what they find."""
