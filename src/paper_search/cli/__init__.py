"""The command `paper-search`: searches, reviews at a terminal, exports and translations."""
