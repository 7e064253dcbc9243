"""The shell language: how a command is read, and where a value in it would be code. Pure."""
