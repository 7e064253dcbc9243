"""Workflows on disk: their names, where they are found, how they are saved, and what there is."""
