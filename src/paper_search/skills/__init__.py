"""The steps of a search, each usable alone."""
