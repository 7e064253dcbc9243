"""Answers of an N-body run: ranges, resonances, approaches, ejections, chaos, and a verdict in plain words.

All functions are pure: they read the samples and measurements of a run.
"""

from universe.nbody.answers.comparison import compare_answers
from universe.nbody.answers.orbit_history import OrbitHistory
from universe.nbody.answers.resonances import compute_angle_series
from universe.nbody.answers.run_answers import collect_answers, compute_run_motion

__all__ = ["OrbitHistory", "collect_answers", "compare_answers", "compute_angle_series", "compute_run_motion"]
