"""Figures that move under the reader's hand."""
