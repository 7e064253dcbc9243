"""Answers of an N-body run: ranges, resonances, approaches, ejections, chaos, and a verdict in plain words.

All functions are pure: they read the samples of a run and what the run has measured on its way.
"""

from universe.nbody.answers.comparison import differences_of
from universe.nbody.answers.motion import Motion
from universe.nbody.answers.report import answers_of, motion_during
from universe.nbody.answers.resonances import angle_series

__all__ = ["Motion", "angle_series", "answers_of", "differences_of", "motion_during"]
