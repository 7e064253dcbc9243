"""The command `pflow`, and what it prints."""
