"""Screening: an order that learns from marks, a bound on what is left, and replays of finished reviews."""
