"""A shelf on disk: its files, index and assets, what is stored beside it, and lookups without a search."""
