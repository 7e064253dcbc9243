"""Decide colours, widths, wrapping, tables, progress and keys of all commands in one place."""
