"""Say why a step runs again although an earlier run finished it, and what that means for its effect."""

from typing import Final

from pflow.engine.resume.earlier_runs import EarlierRuns
from pflow.engine.resume.reuse import differs_only_in_effects
from pflow.engine.steps import Job

NOT_STORED: Final = "its result contains a secret and was not stored"
INTERRUPTED: Final = "it was interrupted"
_CHANGED: Final = "its inputs changed"
_EFFECTS_CHANGED: Final = "an earlier node with effects ran again"


def explain_rerun(earlier: EarlierRuns, job: Job, *, was_interrupted: bool) -> str:
    """Return why no earlier result is reused for this step."""
    if was_interrupted and job.is_effectful:
        return INTERRUPTED
    if not job.node.reuse:
        return 'its "resume" is "never"'
    if job.call.interface.is_volatile_with(job.call.params):
        return "the data it reads may have changed"
    if (result := earlier.results.get(job.result_key)) is not None:
        return NOT_STORED if result.outputs is None else "a file it wrote is missing"
    if job.key not in earlier.fingerprints:
        return "it had not finished"
    is_same = differs_only_in_effects(job.fingerprint, earlier.fingerprints[job.key])
    return _EFFECTS_CHANGED if is_same else _CHANGED


def make_rerun_warning(job: Job, reason: str) -> str:
    """Return a warning if running the step again may repeat an effect or is unexpected, or an empty string."""
    if reason == INTERRUPTED:
        return f"'{job.key}' was interrupted in an earlier run: whether it had its effect is uncertain. It ran again."
    if reason == NOT_STORED:
        return f"'{job.key}' ran again although nothing changed: {reason}."
    if job.is_effectful and reason in (_CHANGED, _EFFECTS_CHANGED):
        return f"'{job.key}' has effects, had finished in an earlier run, and ran again: {reason}."
    return ""


def get_effect_run_id(job: Job, earlier: EarlierRuns | None = None, rerun_reason: str = "") -> str:
    """Return the id of the run that the effect of a step that runs now counts for; empty for a pure node.

    A step that runs again only because its result was not stored leaves everything as it was.
    """
    if job.call.effect == "pure":
        return ""
    if earlier is not None and rerun_reason == NOT_STORED:
        return earlier.results[job.result_key].by or job.call.context.run_id
    return job.call.context.run_id
