"""Review a search at a terminal: text, keys, and the marks of an unfinished review."""
