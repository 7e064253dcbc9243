"""The review of a search at a terminal: pages, keys, and the marks of an unfinished review."""
