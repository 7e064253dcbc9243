"""A shelf on disk: its layout, index and assets, and lookups without a search."""
