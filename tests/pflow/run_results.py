"""The outputs and the error of a run as tests read them: of any shape."""

from typing import Any

from pflow.service.engine.results import RunResult


def get_outputs(result: RunResult) -> Any:
    return result.outputs


def get_error(result: RunResult) -> Any:
    """Return the error of a run that failed."""
    assert result.error_body is not None
    return result.error_body
