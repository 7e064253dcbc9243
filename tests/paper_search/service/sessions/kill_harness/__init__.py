"""Kills the paper search server at random times of scripted sessions, and counts the failures."""
