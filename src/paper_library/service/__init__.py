"""The operations of the library: read, search, export and build shelves."""
