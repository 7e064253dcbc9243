"""Sessions on disk: the file of each session with its steps, its state, and the marks of unfinished reviews."""
