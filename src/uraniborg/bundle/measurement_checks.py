"""Check measurements: repeat them on the stored universe, and compare result, plot and start."""

from collections.abc import Iterator
from typing import Final, cast

import orjson
from pydantic import TypeAdapter, ValidationError

from universe.domain.state import Plain
from universe.jobs.measurement import Measurement, measure, summarise_reply
from universe.jobs.options import JobOptions, parse_job_options
from universe.jobs.store import Job
from universe.nbody.replies import MeasurementReply
from universe.store.authors import is_author
from uraniborg.bundle.checks import Check, Result, make_statement
from uraniborg.bundle.inspection import Inspection, RepeatedRun, TimeOver, Verified
from uraniborg.bundle.plot_checks import check_plot
from uraniborg.bundle.reader import Bundle, Unreadable
from uraniborg.bundle.result_checks import compare_results
from uraniborg.bundle.universe_log import read_document, remove_universe_names
from uraniborg.bundle.universe_pieces import make_measurement_piece
from uraniborg.kernel.errors import MissingExtra, Unavailable, UnsupportedPlatform, UraniborgError
from uraniborg.kernel.json_values import JsonObject

_JOB_FACTS: Final = ("id", "version", "kind", "options", "author", "state", "progress", "summary", "error", "actor")
_NOT_IN_BUNDLE: Final = {"owner": "", "cancelled_by": None}
_WRONG_VALUES: Final = (KeyError, TypeError, ValueError, AttributeError, IndexError)
"""What the values of an unknown bundle can raise."""


def verify_measurement(inspection: Inspection, folder: str) -> Verified:
    """Measure again from the stored universe, compare with the stored result, and draw the plot again."""
    bundle, path = inspection.bundle, f"{folder}/result.json"
    version, state = read_document(bundle, f"{folder}/universe.json")
    title = str(bundle.read_object(f"{folder}/universe.json").get("name"))
    stored = cast("MeasurementReply", bundle.read_object(path))
    plot = bundle.read(f"{folder}/plot.svg")
    job, options = _read_job(bundle, f"{folder}/job.json")
    checks = [*_check_start(inspection, folder, job, version, title, state)]
    measured: Measurement | None = None
    try:
        checks += _check_job(folder, job, stored)
        measured = measure(
            state,
            options.model_copy(update={"max_seconds": inspection.limit.check()}),
            universe_id=job.universe_id,
            version=job.version,
            title=title,
            progress=lambda done: inspection.report(f"{folder} {done:.0%}"),
            labels_from=stored,
        )
        checks += compare_results(path, job.kind, stored, measured.reply)
        checks += check_plot(f"{folder}/plot.svg", plot, measured)
    except (UraniborgError, TimeOver) as exc:
        result, reason = _explain_failure(exc)
        checks.append(Check(path, result, reason))
        plot_result = "not repeated" if result == "differs" else result
        checks.append(Check(f"{folder}/plot.svg", plot_result, "its run was not repeated"))
    except _WRONG_VALUES as exc:
        problem = f"is not a result of this kind: {type(exc).__name__} {exc}"[:200]
        return Verified([*checks, Check(path, "differs", problem)], None)
    inspection.runs[job.id] = RepeatedRun(
        folder, title, job.describe(), state, stored, measured.trajectory if measured else None
    )
    return Verified(checks, make_measurement_piece(job, state, stored, plot, title, folder))


def _read_job(bundle: Bundle, path: str) -> tuple[Job, JobOptions]:
    """Return the job and its options. Raise Unreadable."""
    found = bundle.read_object(path)
    try:
        given = cast("JsonObject", found.get("options", {}))
        options = parse_job_options({"kind": found.get("kind"), **given})
        times = {f"{name}_at": found.get(f"{name}At") for name in ("created", "started", "ended")}
        facts = {name: found.get(name) for name in _JOB_FACTS}
        job = TypeAdapter(Job).validate_json(
            orjson.dumps({**facts, **times, "universe_id": found.get("universeId"), **_NOT_IN_BUNDLE}), strict=True
        )
    except (UraniborgError, TypeError, ValidationError) as exc:
        reason = exc.message if isinstance(exc, UraniborgError) else f"not those of a job ({type(exc).__name__})"
        raise Unreadable(f"the options: {reason}", path) from None
    if options.kind != job.kind:
        raise Unreadable("the options: another kind than that of the job", path)
    return job, options


def _check_job(folder: str, job: Job, stored: MeasurementReply) -> Iterator[Check]:
    """Yield the contradictions between a job and its result, and what only the job states."""
    path = f"{folder}/job.json"
    if (job.state, job.progress, job.error) != ("done", 1.0, None):
        yield Check(path, "differs", f"the job is {job.state}, and has a result")
    times = [time for time in (job.created_at, job.started_at, job.ended_at) if time is not None]
    if times != sorted(times):
        yield Check(path, "differs", "the job ended before it started, or started before it was created")
    if job.actor is not None and not is_author(job.author, job.actor):
        yield Check(path, "differs", "the author is another than the actor")
    if job.summary != summarise_reply(job.kind, stored):
        yield Check(path, "differs", "the summary is not that of the result")
    if (stored["id"], stored["version"]) != (job.universe_id, job.version):
        yield Check(f"{folder}/result.json", "differs", "names another universe or version than job.json")
    reason = "id, author, times and maxSeconds of the job: only this record states them"
    yield make_statement(path, reason)


def _check_start(
    inspection: Inspection, folder: str, job: Job, version: int, title: str, state: Plain
) -> Iterator[Check]:
    """Yield whether the universe that a run starts from is that of a log in the bundle."""
    path, plain = f"{folder}/universe.json", remove_universe_names(state)
    if version != job.version:
        yield Check(path, "differs", f"is version {version}, and the job is of version {job.version}")
    # Another universe can have the same state: that of this name comes first.
    for history in sorted(inspection.histories.values(), key=lambda one: one.name != title):
        is_version = 0 <= job.version < len(history.states)
        if is_version and remove_universe_names(history.states[job.version].to_plain()) == plain:
            if history.name != title:
                yield Check(path, "differs", f"the name is not that of {history.folder}")
            else:
                yield Check(path, "matched", f"the start is version {job.version} of {history.folder}, replayed")
            return
        if history.universe_id == job.universe_id != "" and is_version:
            yield Check(path, "differs", f"is not version {job.version} of {history.folder}")
            return
    yield make_statement(path, "where the start is from: the bundle does not have the log of its universe")


def _explain_failure(exc: UraniborgError | TimeOver) -> tuple[Result, str]:
    """Return the result of a measurement that failed: a difference, unless the error says nothing about the values."""
    if isinstance(exc, TimeOver):
        return "not checked", str(exc)
    if exc.ids.get("argument") == "maxSeconds" or ("at" in exc.ids and "bodies" not in exc.ids):
        return "not checked", f"{exc.message} It is the rest of the time of all checks: --max-seconds allows more."
    is_lack = isinstance(exc, MissingExtra | UnsupportedPlatform | Unavailable) or "at" in exc.ids
    return "not repeated" if is_lack else "differs", f"{exc.message} {exc.hint}".strip()
