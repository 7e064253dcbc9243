"""Commands and their terminal: options, exit codes, colours, widths, wrapping, tables, progress and keys."""
