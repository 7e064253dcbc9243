"""The operations of universes, their typed replies, and what carries them out."""
