"""Child processes: their environment and end, the dialogue with workers, and streams reserved for a client."""
