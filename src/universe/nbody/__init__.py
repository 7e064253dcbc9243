"""N-body runs: where bodies start, how they move under gravity, and what the motion means. All of it is pure."""
