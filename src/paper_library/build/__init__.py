"""The build of a shelf from input files."""
