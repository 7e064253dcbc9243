"""Reports of the command line on the terminal: trees, tables and paragraphs."""
