"""Reviewing a search at a terminal: pages, keys, and the marks of a review that is not finished."""
