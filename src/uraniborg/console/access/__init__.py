"""Who may call the API, and how often."""
