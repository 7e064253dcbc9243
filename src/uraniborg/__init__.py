"""Uraniborg: the command for all parts, the console, the demo, and the kernel that the parts share."""
