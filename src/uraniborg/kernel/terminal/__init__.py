"""The terminal: the one place that decides colours, widths, wrapping, tables, progress and keys of all commands."""
