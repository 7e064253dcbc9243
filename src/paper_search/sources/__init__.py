"""Sources of papers: definitions, transports, recordings and the registry."""
