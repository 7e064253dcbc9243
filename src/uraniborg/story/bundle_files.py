"""The files of the bundle: everything that the story did, each file with a description."""

import csv
import io
import json
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import orjson

from paper_library.sample_shelf_builder import SAMPLE_PAPERS
from paper_search.export import export_bibtex, export_prisma, export_prisma_json, export_prisma_svg
from paper_search.models import PaperCollection
from universe.claims import PaperTextReader
from universe.domain.citations import add_universe_to_set_by_records
from universe.domain.units import get_field_unit
from universe.nbody.initial_condition_exports import render_rebound_script, render_start_csv
from universe.plotting import render_svg
from universe.provenance.bibliography import collect_cited_sources, format_bibtex
from universe.provenance.value_status import compute_value_status
from universe.service.replies import describe_log_entry
from universe.service.universes import UniverseService
from universe.universe_files import FORMAT
from uraniborg.kernel.inbox import Inbox
from uraniborg.story.folder import Plain
from uraniborg.story.methods import write_methods
from uraniborg.story.nbody_runs import StoredRun, draw_comparison, read_runs
from uraniborg.story.search_steps import list_kept_ids
from uraniborg.story.shelf_steps import read_workflow
from uraniborg.story.steps import Results
from uraniborg.story.universe_steps import read_universe

FIELDS: Final = (
    "mass", "radius", "kepler.osculatingPeriod", "kepler.eccentricity", "kepler.inclination",
    "kepler.argumentOfPeriapsis", "kepler.meanAnomaly",
)  # fmt: skip
"""The fields of the table of values: those that an N-body run starts from, and the radii."""
_PAGE: Final = 1_000


class BundleFile(NamedTuple):
    """A file of the bundle."""

    path: str
    description: str
    content: bytes


def list_search_files(results: Results, found: PaperCollection, inbox: Inbox) -> Iterator[BundleFile]:
    """Yield the record of the search, the kept papers and the decisions."""
    kept = set(list_kept_ids(results))
    chosen = found.model_copy(update={"papers": [paper for paper in found.papers if paper.id in kept]})
    yield _text("search/search-log.md", "the search log after PRISMA 2020", export_prisma(found))
    yield _text("search/search-log.json", "the same log as JSON", export_prisma_json(found))
    yield _text("search/flow.svg", "the PRISMA flow diagram", export_prisma_svg(found))
    yield _text("search/papers.bib", "the kept papers as BibTeX", export_bibtex(chosen))
    yield _json("search/review.json", "every paper with its mark and the reason", results["review"]["papers"])
    ids = [results["ask"]["checkpoint_id"], results["approve"]["checkpoint_id"]]
    entries = [inbox.get(one).model_dump(mode="json", exclude={"payload"}) for one in ids]
    yield _json("search/decisions.json", "the decisions: who, through which interface, when, and why", entries)


def list_workflow_files(results: Results) -> Iterator[BundleFile]:
    """Yield the texts that were read, the workflow and its two runs."""
    for name in results["shelve"]["sheets"]:
        content = (SAMPLE_PAPERS / "data_sheets" / name).read_bytes()
        yield BundleFile(f"shelf/{name}", "the data sheet whose table rows state the masses", content)
    yield _json("workflow/masses.json", "the workflow, to run with `pflow run`", read_workflow())
    yield _json("workflow/run-1.json", "the first run, which stopped, with its resume point", results["read"]["run"])
    yield _json("workflow/run-2.json", "the second run, which resumed the first", results["give"]["run"])
    yield _json("workflow/masses-read.json", "the masses with their table rows and commands", results["give"]["masses"])


async def list_universe_files(service: UniverseService, results: Results, text_of: PaperTextReader) -> list[BundleFile]:
    """Return the universe with its log, the table of its values, its sources, and the logs of its branches."""
    built = results["build"]
    version, state = await read_universe(service, built["universe_id"], built["version"])
    document = {
        "format": FORMAT,
        "name": "TRAPPIST-1",
        "version": version,
        "state": add_universe_to_set_by_records(state, built["universe_id"]),
    }
    values, sources = _write_values(state, text_of), format_bibtex(collect_cited_sources(state["stars"]))
    files = [
        _json("universe/universe.json", "the universe, to open with `universe import`", document),
        _text("universe/values.csv", "the values with their status, source and table row", values),
        _text("universe/sources.bib", "the sources of the values as BibTeX", sources),
    ]
    logs = {"universe": built, **{_name_branch(one): one for one in (results["branch"], results["break"]["branch"])}}
    for name, one in logs.items():
        entries = await service.read_history(one["universe_id"], limit=_PAGE)
        lines = [orjson.dumps(describe_log_entry(entry, one["universe_id"])) for entry in entries]
        files.append(
            BundleFile(
                f"universe/log-{name}.jsonl", f"the command log of {name}: who changed what", b"\n".join(lines) + b"\n"
            )
        )
    return files


def _name_branch(branch: Plain) -> str:
    return f"h-times-{branch['factor']:g}"


def _write_values(state: Plain, text_of: PaperTextReader) -> str:
    out = io.StringIO(newline="")
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(
        ["body", "field", "value", "unit", "status", "as written", "source", "doi", "section", "row", "set by"]
    )
    for body in state["stars"].values():
        for field in FIELDS:
            found = compute_value_status(body, field, text_of)
            if found.value is None:
                continue
            support = found.supports[0] if found.supports else None
            locations: Plain = (support.source.get("locations") if support else None) or {}
            location: Plain = locations.get(field) or {}
            rows.writerow(
                [
                    body["name"],
                    field,
                    repr(found.value),
                    get_field_unit(field, astronomical=True),
                    found.status,
                    support.claim.as_written if support and support.claim else "",
                    support.source.get("title", "") if support else "",
                    support.source.get("doi", "") if support else "",
                    location.get("section", ""),
                    " | ".join(location.get("row", ())),
                    found.display_note,
                ]
            )
    return out.getvalue()


async def list_nbody_files(results: Results) -> list[BundleFile]:
    """Return the runs with their starts, and the comparisons with their plots."""
    compared = (results["compare"], results["break"])
    base, *others = await read_runs([*compared[0]["runs"], compared[1]["runs"][1]])
    files = [*_list_run_files(base, 1.0)]
    for found, other in zip(compared, others, strict=True):
        factor = found["factor"]
        files += _list_run_files(other, factor)
        drawing = draw_comparison([base, other], found["answer"])
        files.append(
            _text(
                f"plots/laplace-angles-h-times-{factor:g}.svg",
                f"the Laplace angles at 1 and {factor:g} times the mass",
                render_svg(drawing),
            )
        )
        facts = {key: value for key, value in found.items() if key not in ("branch", "picture")}
        files.append(
            _json(
                f"nbody/comparison-h-times-{factor:g}.json",
                "the comparison, its answer, and the angles over time",
                facts,
            )
        )
    return files


def _list_run_files(run: StoredRun, factor: float) -> Iterator[BundleFile]:
    folder, name = f"nbody/h-times-{factor:g}", run.about["name"]
    about: Any = {"universe_id": run.reply["id"], "version": run.reply["version"], "time": float(run.reply["time"])}
    script = render_rebound_script(run.start, days=run.reply["days"], relativity=run.reply["relativity"], **about)
    yield _json(f"{folder}/run.json", f"{name}: start, end, errors, resonances, approaches, chaos", run.reply)
    yield _text(
        f"{folder}/start.csv", f"{name}: masses, positions and velocities", render_start_csv(run.start, **about)
    )
    yield _text(f"{folder}/rebound.py", f"{name}: integrates the same start with REBOUND", script)
    yield BundleFile(f"{folder}/run.svg", f"{name}: plots of orbits, angles and distances", run.plot)


def list_answer_files(results: Results, sentences: list[Plain]) -> Iterator[BundleFile]:
    """Yield the answer with the methods, and the steps with their sentences."""
    yield _text("answer.md", "the question, the answers, and how they were found", write_methods(results))
    yield _json("steps.json", "every step: its sentence, who ran it and when", sentences)


def _text(path: str, description: str, text: str) -> BundleFile:
    return BundleFile(path, description, text.encode())


def _json(path: str, description: str, value: Any) -> BundleFile:
    return _text(path, description, json.dumps(value, ensure_ascii=False, indent=1) + "\n")
