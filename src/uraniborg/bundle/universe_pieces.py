"""Collect universes and measurements for a bundle: states, logs, values with sources, starts and results."""

import asyncio
import csv
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

import orjson

from universe.claims import PaperTextReader
from universe.cli.common import resolve_universe_id
from universe.domain.entities import Entity
from universe.domain.exchange.exports import UNIVERSE_FORMAT, render_rebound_script, render_start_csv
from universe.domain.names_and_numbers import find_body_ids
from universe.domain.nbody.initial_conditions import make_initial_conditions
from universe.domain.nbody.measurement_replies import MeasurementReply, RunReply
from universe.domain.nbody.run_reports import START_NOT_INCLUDED
from universe.domain.provenance.bibliography import collect_cited_sources, format_bibtex
from universe.domain.provenance.citations import add_universe_to_set_by_records
from universe.domain.provenance.value_status import compute_value_status
from universe.domain.state import Plain
from universe.domain.units_and_dates import YEAR_IN_DAYS, get_field_unit, has_astronomical_body
from universe.service.jobs.job_store import StoredJob
from universe.service.jobs.measurement import summarise_reply
from universe.service.papers import make_paper_text_reader
from universe.service.reply_encoding import describe_log_entry
from universe.service.universes import UniverseService
from universe.store.interface import StoredEntry
from uraniborg.bundle.pieces import BundleFile, BundlePiece, Chosen, make_json_file, make_names, make_text_file
from uraniborg.bundle.records import RecordedLogEntry, UniverseDocument, ValueRow
from uraniborg.kernel.boundary import neutralize_formula
from uraniborg.kernel.json_values import JsonObject
from uraniborg.kernel.language.messages import plural
from uraniborg.part_services import open_jobs, open_universes

FIELDS: Final = (
    "mass", "radius", "kepler.period", "kepler.osculatingPeriod", "kepler.semiMajorAxis", "kepler.eccentricity",
    "kepler.inclination", "kepler.longitudeOfAscendingNode", "kepler.argumentOfPeriapsis", "kepler.meanAnomaly",
)  # fmt: skip
"""The fields of the table: those that an N-body run starts from, and the radii."""
COLUMNS: Final[tuple[str, ...]] = (
    "body", "field", "value", "unit", "status", "as written", "source", "doi", "section", "row", "set by",
)  # fmt: skip


def list_value_rows(state: Plain, text_of: PaperTextReader | None) -> list[ValueRow]:
    """Return a row for each value of each body; `text_of` returns the texts of a shelf."""
    is_astronomical = has_astronomical_body(state["stars"].values())
    return [
        row
        for key, body in state["stars"].items()
        for field in FIELDS
        if (row := _make_row(str(key), body, field, get_field_unit(field, astronomical=is_astronomical), text_of))
    ]


def _make_row(key: str, body: Entity, field: str, unit: str, text_of: PaperTextReader | None) -> ValueRow | None:
    found = compute_value_status(body, field, text_of)
    if found.value is None:
        return None
    support = next(iter(found.supports), None)
    source: Mapping[str, Any] = support.source if support else {}
    location = _get_object(_get_object(source.get("locations")).get(field))
    row: Any = location.get("row")
    return {
        "body": str(body.get("name") or key),
        "field": field,
        "value": repr(found.value),
        "unit": unit,
        "status": found.status,
        "as written": support.claim.as_written if support and support.claim else "",
        "source": str(source.get("title") or ""),
        "doi": str(source.get("doi") or ""),
        "section": str(location.get("section") or ""),
        "row": " | ".join(map(str, row)) if isinstance(row, list) else str(location.get("passage") or ""),  # pyright: ignore[reportUnknownArgumentType]
        "set by": found.display_note,
    }


def _get_object(value: Any) -> JsonObject:
    """Return an object, or an empty one for any other value: sources can come from any program."""
    return cast("JsonObject", value) if isinstance(value, dict) else {}


def write_value_table(rows: Sequence[ValueRow]) -> str:
    out = io.StringIO(newline="")
    table: csv.DictWriter[str] = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    table.writeheader()
    table.writerows({name: neutralize_formula(cell) for name, cell in row.items()} for row in rows)
    return out.getvalue()


_PAGE: Final = 1_000


async def collect_universes(chosen: Sequence[Chosen], text_of: PaperTextReader | None = None) -> list[BundlePiece]:
    """Return the pieces of these universes as they are now. Raise UniverseNotFound, or InvalidInput for several ids.

    `text_of` returns the texts of a shelf; without it, those of the default shelf.
    """
    if not chosen:
        return []
    reader = text_of or await asyncio.to_thread(make_paper_text_reader)
    async with open_universes() as service:
        return [
            await _collect_universe(service, await resolve_universe_id(service, one.id), f"universes/{name}", reader)
            for one, name in zip(chosen, make_names(chosen), strict=True)
        ]


async def _collect_universe(
    service: UniverseService, universe_id: str, folder: str, text_of: PaperTextReader
) -> BundlePiece:
    view = await service.view(universe_id)
    plain = await asyncio.to_thread(view.replica.mirror.to_plain)
    entries: list[StoredEntry] = []
    while len(entries) < view.version and (
        page := await service.read_history(universe_id, after=len(entries), limit=_PAGE)
    ):
        entries += page
    entries = entries[: view.version]
    log = [await _describe_entry(service, entry, universe_id) for entry in entries]

    def make() -> BundlePiece:
        document = make_document(plain, universe_id, view.record.name, view.version)
        return make_universe_piece(document, log, list_value_rows(document["state"], text_of), folder)

    return await asyncio.to_thread(make)


def make_universe_piece(
    document: UniverseDocument, log: Sequence[RecordedLogEntry], rows: Sequence[ValueRow], folder: str
) -> BundlePiece:
    """Return the piece of a universe with this document, the entries of its log, and the rows of its values."""
    name, version = document["name"], document["version"]
    lines = b"".join(orjson.dumps(entry) + b"\n" for entry in log)
    sources = format_bibtex(collect_cited_sources(document["state"]["stars"]))
    return BundlePiece(
        [
            BundleFile(
                f"{folder}/universe.json",
                f"{name}, version {version}, to open with `universe import`",
                encode_document(document),
            ),
            BundleFile(f"{folder}/log.jsonl", "the command log: who changed what, from the first state", lines),
            make_text_file(
                f"{folder}/values.csv", "its values with status, source and location", write_value_table(rows)
            ),
            make_text_file(f"{folder}/sources.bib", "the sources of its values as BibTeX", sources),
        ],
        [_describe_universe(name, version, document["state"], rows, log)],
        [str(entry["at"]) for entry in log[-1:]],
    )


def make_document(plain: Plain, universe_id: str, name: str, version: int) -> UniverseDocument:
    """Return a universe as `universe import` reads it. Bodies keep their order, from which runs start."""
    state = add_universe_to_set_by_records(plain, universe_id)
    return {"format": UNIVERSE_FORMAT, "name": name, "version": version, "state": state}


def encode_document(document: UniverseDocument) -> bytes:
    """Return a document as JSON."""
    return orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


async def _describe_entry(service: UniverseService, entry: StoredEntry, universe_id: str) -> RecordedLogEntry:
    """Return an entry of the log with the state that it restored, so that the log can be replayed alone."""
    described = describe_log_entry(entry, universe_id)
    if not entry.is_restore:
        return {**described}
    view = await service.view(universe_id, entry.version)
    return {**described, "state": await asyncio.to_thread(view.replica.mirror.to_plain)}


def _describe_universe(
    name: str, version: int, plain: Plain, rows: Sequence[ValueRow], log: Sequence[RecordedLogEntry]
) -> str:
    statuses = Counter(str(row["status"]) for row in rows)
    commands = Counter(str(one["author"] or "an unknown author") for one in log if one["kind"] != "restore")
    changed = ", ".join(f"{count} by {author}" for author, count in sorted(commands.items()))
    after = f", after {plural(commands.total(), 'command')} ({changed})" if commands else ""
    counted = ", ".join(f"{count} {status}" for status, count in statuses.most_common()) or "none"
    return (
        f"The universe {name} has {plural(len(plain['stars']), 'body', 'bodies')} at version {version}{after}; of "
        f"{plural(len(rows), 'value')}: {counted}."
    )


async def collect_measurements(chosen: Sequence[Chosen]) -> list[BundlePiece]:
    """Return the pieces of these jobs. Raise JobNotFound or JobNotDone."""
    if not chosen:
        return []
    pieces: list[BundlePiece] = []
    async with open_jobs() as jobs:
        for one, name in zip(chosen, make_names(chosen), strict=True):
            job = await jobs.find(one.id)
            view = await jobs.universes.view(job.universe_id, job.version)
            plain = await asyncio.to_thread(view.replica.mirror.to_plain)
            reply: MeasurementReply = orjson.loads(await jobs.read_result(job.universe_id, job.id))
            plot = await jobs.read_plot(job.universe_id, job.id)
            title = view.record.name
            pieces.append(
                await asyncio.to_thread(make_measurement_piece, job, plain, reply, plot, title, f"measurements/{name}")
            )
    return pieces


def make_measurement_piece(
    job: StoredJob, plain: Plain, reply: MeasurementReply, plot: bytes, title: str, folder: str
) -> BundlePiece:
    what = f"{title}, version {job.version}"
    start = encode_document(make_document(plain, job.universe_id, title, job.version))
    files = [
        make_json_file(f"{folder}/job.json", f"{what}: the kind and options of the measurement", job.describe()),
        BundleFile(f"{folder}/universe.json", f"{what}: the universe that it starts from", start),
        make_json_file(f"{folder}/result.json", f"{what}: the result with its errors", reply),
        BundleFile(f"{folder}/plot.svg", f"{what}: plots of the result", plot),
    ]
    if job.kind == "nbody":
        files += _list_start_files(job, plain, cast("RunReply", reply), what, folder)
    return BundlePiece(files, _describe_measurement(job, reply, title), [job.ended_at or job.created_at])


def _list_start_files(job: StoredJob, plain: Plain, reply: RunReply, what: str, folder: str) -> list[BundleFile]:
    bodies = cast("list[str] | None", job.options.get("bodies"))
    start = make_initial_conditions(plain, find_body_ids(plain["stars"], bodies) if bodies else None)
    about: Any = {"universe_id": job.universe_id, "version": job.version, "time": float(plain["time"])}
    script = render_rebound_script(start, days=reply["days"], relativity=reply["relativity"], **about)
    return [
        make_text_file(
            f"{folder}/start.csv", f"{what}: masses, positions and velocities", render_start_csv(start, **about)
        ),
        make_text_file(f"{folder}/rebound.py", f"{what}: integrates the same start with REBOUND", script),
    ]


def _describe_measurement(job: StoredJob, reply: MeasurementReply, title: str) -> list[str]:
    found = summarise_reply(job.kind, reply)
    if job.kind != "nbody":
        return [f"The {job.kind} of {title} (version {job.version}) for {reply['days']:g} days: {found['headline']}."]
    run = cast("RunReply", reply)
    years = float(f"{reply['days'] / YEAR_IN_DAYS:.4g}")
    error = found.get("errorDegrees")
    accuracy = "has an unknown error" if error is None else f"is accurate to {error:.1g} degrees of each orbit"
    return [
        f"{title} (version {job.version}) was integrated for {plural(years, 'year')} by the method {run['method']}, "
        f"twice. The integration itself {accuracy} at the end. {START_NOT_INCLUDED}",
        *run["errors"]["physics"],
    ]
