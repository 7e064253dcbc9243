"""Pure functions on texts: markdown, excerpts, tables, summaries and citations."""
