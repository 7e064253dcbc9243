"""Relevance by rule: scores, reasons and tags for a pool of papers, computed from the pool itself. Pure."""
