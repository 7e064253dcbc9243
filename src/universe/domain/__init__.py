"""Pure rules of universes: entities, commands and the reducer; below, the subjects that compute with bodies."""
