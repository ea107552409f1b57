"""Drawings of graphs, laid out by Graphviz."""
