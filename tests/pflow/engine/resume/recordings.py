"""Recordings of runs without an engine."""

from typing import Any

from pflow.engine.resume.recorder import RunRecorder
from pflow.engine.resume.resume_point import ResumePoint


def start_recording(resume_point: ResumePoint, run_id: str, **options: Any) -> RunRecorder:
    """Return the recorder of a run that has begun."""
    recorder = RunRecorder(resume_point, run_id)
    recorder.begin(**options)
    return recorder
