"""Reports for people: what is left out of a long list is counted, and a person learns where the rest is."""

from collections.abc import Mapping
from typing import Any

import pytest

from universe.cli.measurement_tables import (
    format_actor,
    format_author,
    print_job,
    print_jobs,
    print_physics,
    print_transits,
)
from universe.cli.origin_and_difference_reports import print_differences, print_import
from universe.cli.universe_reports import print_change, print_tree
from universe.domain.state import EMPTY

Capture = pytest.CaptureFixture[str]
ADA = {"kind": "person", "name": "Ada", "authenticated": "account"}


def read_lines(capsys: Capture) -> list[str]:
    return [line.rstrip() for line in capsys.readouterr().out.splitlines()]


def make_difference(**fields: Any) -> dict[str, Any]:
    none: dict[str, Any] = {"added": [], "removed": [], "changed": {}}
    found = {
        "from": {"id": "a", "version": 1_000},
        "to": {"id": "b", "version": 2},
        "equal": False,
        "time": [0, 0],
        "differences": {"stars": none},
    }
    return {**found, **fields}


def test_a_difference_lists_time_added_removed_and_changed_entities(capsys: Capture) -> None:
    changed = {"io": {"mass": [1, None], "name": ["a" * 60, "b" * 61]}}
    differences: dict[str, Any] = {
        "stars": {"added": ["x"], "removed": ["y"], "changed": changed},
        "belts": {"added": ["z"], "removed": [], "changed": {}},
    }
    print_differences(make_difference(time=[0, 2.5], differences=differences))
    assert read_lines(capsys) == [
        "a version 1,000 → b version 2",
        "time: 0 → 2.5",
        "+ stars x",
        "- stars y",
        "~ io mass: 1 → none",
        f"~ io name: {'a' * 60} → {'b' * 59}…",
        "+ belts z",
    ]
    print_differences(make_difference(equal=True))
    assert read_lines(capsys)[1:] == ["They are equal."]


@pytest.mark.parametrize(("count", "rest"), [(40, []), (1_041, ["… and 1,001 more lines; --json has them."])])
def test_of_a_long_difference_40_lines_are_printed(capsys: Capture, count: int, rest: list[str]) -> None:
    added = [f"star{number}" for number in range(count)]
    print_differences(make_difference(differences={"stars": {"added": added, "removed": [], "changed": {}}}))
    assert read_lines(capsys)[1:] == [*(f"+ stars {key}" for key in added[:40]), *rest]


def make_import(universes: int, skipped: list[dict[str, Any]], **fields: Any) -> dict[str, Any]:
    report: dict[str, Any] = {
        "systems": [{}] * 2,
        "skippedCount": len(skipped),
        "skipped": skipped,
        "format": "CSV",
        "notes": [],
    }
    created = [{"id": f"u{number}", "name": f"System {number}", "bodies": 1 + number} for number in range(universes)]
    return {"import": {**report, **fields}, "universes": created}


@pytest.mark.parametrize(("count", "rest"), [(10, []), (11, ["… and 1 more universes; --json lists all."])])
def test_of_many_new_universes_ten_are_listed(capsys: Capture, count: int, rest: list[str]) -> None:
    print_import(make_import(count, []))
    lines = read_lines(capsys)
    assert lines[:2] == ["Created u0: System 0, 1 body.", "Created u1: System 1, 2 bodies."]
    assert lines[10:] == [*rest, "Imported 2 systems from CSV."]


def test_skipped_rows_are_grouped_by_reason_and_rows_that_are_not_listed_are_counted(capsys: Capture) -> None:
    empty = [{"name": name, "row": number, "reason": "it is empty"} for number, name in enumerate(("a", "", "c", "d"))]
    alone = [{"name": "e", "row": 9, "reason": "it is alone"}] * 3
    print_import(make_import(0, [*alone, *empty], skippedCount=1_009, notes=["The phase was assumed."]))
    assert read_lines(capsys) == [
        "Would import 2 systems from CSV; 1,009 rows skipped:",
        "- a, row 1, c and 1 more: it is empty",
        "- e, e, e: it is alone",
        "- 1,002 more rows, not listed",
        "Note: The phase was assumed.",
    ]
    print_import(make_import(0, alone[:1], skippedCount=2))
    assert read_lines(capsys)[-1] == "- 1 more row, not listed"


def make_planet(name: str, transits: int, **fields: Any) -> dict[str, Any]:
    events = [{"number": n, "time": 1.5 + n, "ocMinutes": -0.25, "kind": "full"} for n in range(transits)]
    summary = {"period": 1.5, "ttvHalfRangeMinutes": None, "durationMinutes": 36.25, "impactParameter": 0.126}
    return {"name": name, "status": "transits", "transits": events, "errorSeconds": 0.04, **summary, **fields}


def test_of_many_transits_twelve_are_listed_and_planets_without_any_are_explained(capsys: Capture) -> None:
    planets = {
        "b": make_planet("b", 1_013),
        "c": make_planet("c", 12),
        "d": make_planet("d", 0, status="does not transit"),
        "e": make_planet("e", 0, status="is unknown"),
        "f": make_planet("f", 0, status="is unknown"),
    }
    print_transits({"planets": planets, "timeScale": "BJD", "notes": ["One.", "Two."]})
    text = capsys.readouterr().out
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert "b transits 1,013 1.500000 - 36.2 0.13 0.04" in lines
    assert "d none 0 1.500000 - 36.2 0.13 0.04" in lines
    assert "d: does not transit with the tilt that the data state; a tilt that is a little off can hide a transit." in (
        " ".join(text.split())
    )
    assert "e, f: is unknown." in lines
    assert lines.count("11 12.500000 -0.25 full") == 2
    assert "12 13.500000 -0.25 full" not in lines
    assert [line for line in lines if line.startswith("…")] == ["… 1,001 more; --csv FILE and --json have all."]
    assert lines[-2:] == ["Note: One.", "Note: Two."]
    assert "d" not in lines


def make_physics(**fields: Any) -> dict[str, Any]:
    quantities = {"effectiveTemperature": {"value": 5_000.0}, "luminosity": {"value": None}}
    star = {"name": "Sun", "semiMajorAxis": None, "quantities": quantities}
    zones = {"sun": {"note": "", "limits": None}}
    return {"bodies": {"sun": {**star, **fields}}, "zones": zones, "notes": [], "sources": []}


@pytest.mark.parametrize("field", ["massIs", "radiusIs", None])
def test_an_estimated_mass_or_radius_has_a_star_that_is_explained(capsys: Capture, field: str | None) -> None:
    print_physics(make_physics(**({field: "estimate"} if field else {})))
    text = capsys.readouterr().out
    assert ("Sun*" in text) == ("* The mass or the radius is an estimate or a lower limit." in text) == bool(field)


Bodies = dict[str, tuple[str | None, list[str]]]
"""The parent and the children of each body."""


def make_state(bodies: Bodies) -> Any:
    plain = EMPTY.to_plain()
    stars = {
        key: {
            "id": key,
            "name": key.upper(),
            "bodyType": "planet",
            "parentId": parent,
            "children": children,
            "mass": 1.0,
            "orbitalDistance": 2.0,
            "color": "#ffffff",
        }
        for key, (parent, children) in bodies.items()
    }
    return {**plain, "stars": stars, "rootIds": [key for key, (parent, _) in bodies.items() if parent is None]}


def read_no_text(_source: Mapping[str, Any]) -> None: ...


def print_bodies(capsys: Capture, bodies: Bodies, depth: int = 9) -> list[str]:
    print_tree("T [1]", 1_000, make_state(bodies), depth, "0 days", read_no_text)
    return read_lines(capsys)


def test_a_tree_counts_the_children_and_levels_that_it_does_not_show(capsys: Capture) -> None:
    moons = [f"m{number}" for number in range(41)]
    lines = print_bodies(capsys, {"sun": (None, moons), **{moon: ("sun", []) for moon in moons}})
    assert lines[0] == "T [1]  version 1,000, time 0 days"
    assert sum("○" in line or "●" in line for line in lines) == 41
    assert lines[-2:] == ["    └── … 1 more", "42 bodies"]
    lines = print_bodies(capsys, {"sun": (None, ["a", "b"]), "a": ("sun", []), "b": ("sun", [])}, depth=1)
    assert lines[-2:] == ["    └── … 2 below; --depth 2 shows more", "3 bodies"]


def test_a_tree_of_many_bodies_ends_after_400_and_says_so(capsys: Capture) -> None:
    bodies: Bodies = {}
    for root in range(11):
        moons = [f"m{root}x{number}" for number in range(40)]
        bodies |= {f"r{root}": (None, moons), **{moon: (f"r{root}", []) for moon in moons}}
    lines = print_bodies(capsys, bodies)
    assert sum("●" in line for line in lines) == 400
    assert lines[-2:] == ["└── … and more; only 400 are displayed", "451 bodies"]


def test_bodies_without_an_existing_parent_are_named_below_the_tree(capsys: Capture) -> None:
    lost: Bodies = {f"lost{number}": ("gone", []) for number in range(6)}
    lines = print_bodies(capsys, {"sun": (None, ["ghost", "sun"]), **lost})
    assert lines[-2:] == [
        "7 bodies",
        "6 bodies whose parent does not exist, not in the tree: lost0, lost1, lost2, lost3, lost4",
    ]


def test_of_many_events_twenty_are_named(capsys: Capture) -> None:
    events: list[Any] = [{"type": "starAdded", "starId": f"s{number}"} for number in range(21)]
    print_change({"version": 1_000, "events": events, "timePassed": -1.0, "timeUnit": "days", "warnings": ["Careful."]})
    first, warning = read_lines(capsys)
    assert first.startswith("Version 1,000: starAdded s0, starAdded s1,")
    assert first.endswith("starAdded s19, and 1 more, time went back by 1 day.")
    assert warning == "  Careful."
    print_change({"version": 1, "events": []})
    assert read_lines(capsys) == ["Version 1: nothing changed."]


def make_job(**fields: Any) -> dict[str, Any]:
    job = {"id": "job_0123456789", "universeId": "t1", "version": 3, "kind": "nbody", "state": "done", "progress": 1.0}
    times = {"createdAt": "2026-01-31", "cancelledBy": None, "actor": ADA, "error": None, "summary": None}
    return {**job, **times, "options": {"days": 1_000}, **fields}


def test_a_job_has_its_outcome_or_its_error(capsys: Capture) -> None:
    print_job(make_job(summary={"headline": "All is well.", "verdict": "Stable."}))
    assert read_lines(capsys) == [
        "job_0123456789: nbody, done",
        "Universe t1 at version 3, 1,000 days; started by Ada, by account at 2026-01-31.",
        "All is well.",
        "Stable.",
    ]
    print_job(
        make_job(state="failed", error={"message": "It is too large."}, cancelledBy=ADA, summary={"headline": "x"})
    )
    lines = read_lines(capsys)
    assert lines[0] == "job_0123456789: nbody, failed"
    assert " ".join(" ".join(lines[1:]).split()).endswith("cancelled by Ada, by account. It is too large.")


def test_jobs_are_listed_with_short_ids_and_the_share_that_is_done(capsys: Capture) -> None:
    print_jobs([make_job(state="running", progress=0.256), make_job(state="failed", error={"message": "Too large."})])
    lines = [" ".join(line.split()) for line in read_lines(capsys)]
    assert lines[1:] == [
        "job_01234567 t1@3 nbody running, 26 % Ada, by account",
        "job_01234567 t1@3 nbody failed Ada, by account Too large.",
    ]
    print_jobs([])
    assert read_lines(capsys) == ["There are no jobs. Servers start them: POST /universes/{id}/jobs"]


def test_an_author_of_a_version_that_stored_no_actor_is_unknown() -> None:
    assert format_author({"author": "[ada]", "actor": None}) == "[ada], unknown"
    assert format_author({"author": "ada", "actor": ADA}) == "Ada, by account"
    assert format_author({"author": "", "actor": None}) == format_actor(None) == "unknown"
