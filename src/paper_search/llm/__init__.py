"""Talking to language models, when one is configured."""
