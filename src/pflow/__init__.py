"""Workflows as small JSON files that agents write, run, repair, resume and save."""
