"""The recorded search of the demo, for modules of this package."""

from paper_search.recordings import QUERY, RECORDING

__all__ = ["QUERY", "RECORDING"]
