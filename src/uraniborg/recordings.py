"""The recorded search of the demo, which ships with the search."""

from paper_search.recordings import QUERY, RECORDING

__all__ = ["QUERY", "RECORDING"]
