"""Reads a person's words by rule: pure functions from text to intents and query strategies."""
