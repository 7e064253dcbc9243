"""Language models: their interface, the provider of the settings, and recorded answers."""
