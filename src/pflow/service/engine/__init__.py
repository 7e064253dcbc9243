"""The engine: it walks over a workflow, runs its nodes, and records how they ended."""
