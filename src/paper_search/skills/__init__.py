"""Six skills, the steps of a search, each usable alone."""
