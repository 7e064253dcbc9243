"""Workflows as values: form, checks, templates, shell commands, interfaces of nodes, events of runs. Pure."""
