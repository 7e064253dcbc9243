"""The operations of paper search with their replies, and what carries them out."""
