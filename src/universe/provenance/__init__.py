"""The origin of values: their status, sources, inputs and commands, and the bibliography of a universe."""
