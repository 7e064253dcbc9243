"""The installation: its folders and settings, checks of it, backups, and the commands that print them."""
