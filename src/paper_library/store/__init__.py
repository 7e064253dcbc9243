"""A shelf on disk: its files, how it is opened, and what can be asked of it without a search."""
