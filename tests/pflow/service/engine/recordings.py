"""Recordings of runs without an engine."""

from typing import Any

from pflow.store.resume_point import ResumePoint
from pflow.store.run_recorder import RunRecorder


def start_recording(resume_point: ResumePoint, run_id: str, **options: Any) -> RunRecorder:
    """Return the recorder of a run that has begun."""
    recorder = RunRecorder(resume_point, run_id)
    recorder.begin(**options)
    return recorder
