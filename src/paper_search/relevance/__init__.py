"""Relevance by rule: how well each of a pool of papers answers a query, judged from the pool itself. Pure."""
