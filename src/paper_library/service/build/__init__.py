"""Build a shelf from input files."""
