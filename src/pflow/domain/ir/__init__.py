"""Workflows as data: their model and graph, the parser, and the checks before a run."""
