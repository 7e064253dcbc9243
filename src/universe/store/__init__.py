"""Stores of universes: the log, snapshots and marks, in SQLite, PostgreSQL or memory."""
