"""Answers of an N-body run: ranges, resonances, approaches, ejections, chaos, and a verdict in plain words."""
