"""Workflows on disk: names, files, lookup, listing and saving."""
