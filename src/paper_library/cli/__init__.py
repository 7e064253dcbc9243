"""The command `paper-library`, and what it prints."""
