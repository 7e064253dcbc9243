"""Answers of an N-body run: ranges, resonances, approaches, ejections, chaos, and a verdict in plain words.

All functions are pure: they read the samples and measurements of a run.
"""

from universe.domain.nbody.analysis.resonances import compute_angle_series
from universe.domain.nbody.analysis.run_analysis import analyse_run, compute_run_orbit_history
from universe.domain.nbody.analysis.run_comparison import compare_run_analyses
from universe.domain.nbody.osculating_orbits import OrbitHistory

__all__ = ["OrbitHistory", "analyse_run", "compare_run_analyses", "compute_angle_series", "compute_run_orbit_history"]
