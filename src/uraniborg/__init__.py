"""The station: one command, one look, and the ground the parts stand on."""
