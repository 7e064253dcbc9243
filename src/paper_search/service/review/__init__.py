"""The papers of a session under review: lists, details, marks, merges, and what one reviewer may see."""
