"""The skills: the six steps of a search, each usable alone."""
