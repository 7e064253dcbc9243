"""Kills the paper search server at random moments of scripted sessions, and counts what that broke."""
