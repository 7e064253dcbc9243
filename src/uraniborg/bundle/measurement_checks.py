"""Check measurements: repeat them on the stored universe, and compare result, plot and start."""

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, cast

import orjson
from pydantic import TypeAdapter, ValidationError

from universe.domain.nbody.measurement_replies import MeasurementReply, RunReply
from universe.domain.nbody.run_reports import find_worst_degrees
from universe.domain.state import Plain
from universe.service.jobs.job_store import StoredJob
from universe.service.jobs.measurement import Measurement, measure, summarise_reply
from universe.service.jobs.options_and_replies import JobOptions, parse_job_options
from universe.store.log_encoding import is_author
from uraniborg.bundle.inspection import Check, Inspection, RepeatedRun, Result, TimeOver, Verified, make_statement
from uraniborg.bundle.measurement_comparison import compare_results
from uraniborg.bundle.reader import Bundle, UnreadableBundle
from uraniborg.bundle.universe_checks import read_document, remove_universe_names
from uraniborg.bundle.universe_pieces import make_measurement_piece
from uraniborg.kernel.errors import MissingExtra, Unavailable, UnsupportedPlatform, UraniborgError
from uraniborg.kernel.json_values import JsonObject
from uraniborg.kernel.language.messages import plural

_ENERGY: Final = "relative change of energy"
"""The title of the panel that shows rounding errors alone; it is the last one."""
_NOISE: Final = 1e-12
"""The largest relative change of energy that is rounding."""
_PIXELS: Final = 0.5
"""How far a mark may be from where it is drawn again: less than is visible."""
_STRAYS: Final = 0.01
"""The largest part of the points of a series that rounding moves: passages whose time is between two samples."""
_UNSURE: Final = 1e-3
"""The error of a run in degrees from which on another processor may draw other curves."""
_MARK: Final = re.compile(
    r"<(?:polyline|path|circle|text)(?: (?:points|d|cx|cy|r|x|y|fill|stroke|opacity|font-size|text-anchor|paint-order|"
    r'stroke-(?:width|linejoin|linecap|dasharray))="[^"<>&]*")*(?:/>|>[^<>]*</text>)'
)
_NUMBER: Final = re.compile(r"-?\d+(?:\.\d+)?")
_HEIGHT: Final = re.compile(r'(?: y="| points="-?[\d.]+,| d="M-?[\d.]+ | cy=")(-?[\d.]+)')


def check_plot(path: str, stored: bytes, measured: Measurement) -> list[Check]:
    """Compare a stored plot with that of the repeated measurement."""
    one = stored.decode("utf-8", "replace").splitlines()
    other = measured.render_svg().splitlines()
    matched = Check(path, "matched", "drawn again, with the same marks")
    if one == other:
        return [matched]
    head = other[:3]
    if one[:3] != head or one[-1:] != other[-1:] or not all(map(_MARK.fullmatch, one[3:-1])):
        return [Check(path, "differs", "is not a plot as this program draws it: it has other elements")]
    worst = find_worst_degrees(cast("RunReply", measured.reply)) or 0.0 if measured.kind == "nbody" else 0.0
    top = _find_noisy_panel(measured.reply, other)
    main, noisy = (
        _compare_lines([_select(lines, top, is_noisy=part) for lines in (one, other)], worst) for part in (False, True)
    )
    if main.difference:
        error = f"{main.difference}; the error of the run is {worst:.1g} degrees"
        return [Check(path, "not checked", error) if worst > _UNSURE else Check(path, "differs", main.difference)]
    checks = [matched]
    if main.strays:
        reason = f"{plural(main.strays, 'point is', 'points are')} elsewhere, as rounding moves the time of a passage"
        checks.append(make_statement(path, reason))
    if noisy != _Comparison():
        reason = f"the panel “{_ENERGY}”: it shows rounding errors, which differ"
        checks.append(make_statement(path, reason))
    return checks


def _find_noisy_panel(reply: MeasurementReply, lines: Sequence[str]) -> float:
    """Return the height of the title of the panel with the energy, if that is rounding; else infinity."""
    drift = reply.get("energyDrift")
    if drift is not None and drift["max"] < _NOISE:
        for line in lines:
            if f">{_ENERGY}" in line and (found := _HEIGHT.search(line)):
                return float(found[1])
    return float("inf")


def _select(lines: Sequence[str], top: float, *, is_noisy: bool) -> list[str]:
    """Return the marks below the height `top`, except the last one, the footer; or all others."""
    last = len(lines) - 2
    return [
        line
        for number, line in enumerate(lines)
        if (number != last and (found := _HEIGHT.search(line)) is not None and float(found[1]) >= top) is is_noisy
    ]


class _Comparison(NamedTuple):
    """How the marks of two plots differ."""

    difference: str = ""
    strays: int = 0
    """Points that are elsewhere, so few that rounding explains them."""


def _compare_lines(plots: Sequence[Sequence[str]], worst: float) -> _Comparison:
    """Return how the marks of two plots differ, at the first one that rounding does not explain."""
    one, other = plots
    if len(one) != len(other):
        return _Comparison(f"has {len(one)} marks, drawn again {len(other)}")
    strays = 0
    for first, second in zip(one, other, strict=True):
        if first == second:
            continue
        tags, texts = zip(*(_split_text(line) for line in (first, second)), strict=True)
        if texts[0] != texts[1]:
            shown = [text[:60] for text in texts]
            return _Comparison(f"has the text “{shown[0]}”, drawn again “{shown[1]}”")
        if _NUMBER.sub("0", tags[0]) != _NUMBER.sub("0", tags[1]):
            return _Comparison("has marks of other kinds, colours or numbers of points than drawn again")
        pairs = list(zip(_NUMBER.findall(tags[0]), _NUMBER.findall(tags[1]), strict=True))
        distances = [abs(float(a) - float(b)) for a, b in pairs]
        # A larger error would allow any place: what it explains is named as not checked.
        far = [distance for distance in distances if not distance <= _PIXELS + 10 * min(worst, _UNSURE)]
        if far and not (tags[0].startswith("<path") and len(far) <= _STRAYS * len(pairs)):
            return _Comparison(f"has a mark {max(far):.2g} pixels away from where it is drawn again")
        strays += len(far)
    return _Comparison("", strays)


def _split_text(line: str) -> tuple[str, str]:
    tag, _, text = line.partition(">")
    return tag, text


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


def _read_job(bundle: Bundle, path: str) -> tuple[StoredJob, JobOptions]:
    """Return the job and its options. Raise Unreadable."""
    found = bundle.read_object(path)
    try:
        given = cast("JsonObject", found.get("options", {}))
        options = parse_job_options({"kind": found.get("kind"), **given})
        times = {f"{name}_at": found.get(f"{name}At") for name in ("created", "started", "ended")}
        facts = {name: found.get(name) for name in _JOB_FACTS}
        job = TypeAdapter(StoredJob).validate_json(
            orjson.dumps({**facts, **times, "universe_id": found.get("universeId"), **_NOT_IN_BUNDLE}), strict=True
        )
    except (UraniborgError, TypeError, ValidationError) as exc:
        reason = exc.message if isinstance(exc, UraniborgError) else f"not those of a job ({type(exc).__name__})"
        raise UnreadableBundle(f"the options: {reason}", path) from None
    if options.kind != job.kind:
        raise UnreadableBundle("the options: another kind than that of the job", path)
    return job, options


def _check_job(folder: str, job: StoredJob, stored: MeasurementReply) -> Iterator[Check]:
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
    inspection: Inspection, folder: str, job: StoredJob, version: int, title: str, state: Plain
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
