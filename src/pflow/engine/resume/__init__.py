"""Resuming: the journal of a run, the results of earlier runs, and the rules for reusing them."""
