"""Where values come from: their status, sources, inputs and commands, and the bibliography of a universe."""
