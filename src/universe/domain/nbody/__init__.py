"""N-body runs and measurements: the start, the replies and the charts; below, the integration and the answers."""
