"""How each database writes a term in its fields."""
