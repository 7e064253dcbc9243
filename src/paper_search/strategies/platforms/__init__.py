"""The syntax of each database: how a term is written in its fields."""
