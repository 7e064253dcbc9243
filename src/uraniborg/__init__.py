"""The `uraniborg` command, the demo, and the kernel that all parts share."""
