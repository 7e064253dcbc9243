"""Where bodies are: the compatible rule, true Kepler orbits, whole hierarchies and N-body motion. All of it is pure."""
