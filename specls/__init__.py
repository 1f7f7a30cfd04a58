"""Inline code completion over LSP from a model on your own machine."""

__version__ = "0.1.0"
