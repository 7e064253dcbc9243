"""Read states from the table of bodies, one row for each, as CSV or VOTable."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, cast

from universe.domain.exchange.exports import (
    ALTERNATIVES,
    COLUMNS,
    KEPLER,
    PHYSICAL,
    SOURCE,
    TARGET_UNITS,
    TEXT,
    UNIT_NAMES,
)
from universe.domain.exchange.imported_systems import (
    BodyDraft,
    ImportedSystem,
    ImportReport,
    choose_planet_color,
    choose_star_color,
    list_unknown_fields,
    make_id,
    make_state,
)
from universe.domain.exchange.tables import ParsedTable, Row, parse_number
from universe.domain.field_types import Kepler, Source, StateVector
from universe.domain.orbits.jacobi_hierarchy import compute_orbited_masses
from universe.domain.systems.stated_orbit_conversion import ConvertedOrbit
from universe.domain.units_and_dates import compute_period, compute_semi_major_axis, convert_unit
from universe.errors import ImportRefused
from uraniborg.kernel.boundary import parse_json
from uraniborg.kernel.json_values import JsonObject

_TYPES: Final = ("star", "planet", "moon", "asteroid", "comet", "lagrangePoint", "blackHole")
_CITED: Final = {
    "mass": "mass_solar",
    "radius": "radius_km",
    "physical.teffKelvin": "teff_k",
    "physical.luminositySolar": "luminosity_solar",
}
_REQUIRED_ELEMENTS: Final = ("period_days", "semi_major_axis_au", "periapsis_distance_au")


def is_body_table(table: ParsedTable) -> bool:
    """Return True for a table that names bodies and has a size of their orbits or a mass."""
    names = {ALTERNATIVES[name][0] if name in ALTERNATIVES else name for name in table.units}
    return bool({"name", "id"} & names) and bool({"mass_solar", *_REQUIRED_ELEMENTS} & names)


def import_body_table(table: ParsedTable, format_name: str) -> ImportReport:
    """Return the systems of a table of bodies, one for each body without a parent. Raise ImportRefused."""
    report = ImportReport(format_name, notes=list(table.notes))
    for number, problem in table.problems:
        report.skip(number, "", problem)
    table = _convert_units(table)
    ignored = sorted(name for name in table.units if name not in (*COLUMNS, SOURCE))
    if ignored:
        report.note(f"Columns that are not known were left out: {', '.join(ignored)[:500]}.")
    drafts = _link_parents(_read_drafts(table, report), report)
    complete = _complete_orbits(drafts, report)
    times = (parse_number(cells, "time_days") for _, cells in table.rows)
    time = next((time for time in times if time is not None), 0)
    for members in _group_by_root(complete):
        report.systems.append(ImportedSystem(members[0].name, {**make_state(members), "time": time}, len(members)))
    report.note_assumptions()
    return report.require_systems()


def _convert_units(table: ParsedTable) -> ParsedTable:
    """Return the table with the columns and units of COLUMNS. Raise ImportRefused for a unit that does not fit."""
    factors: dict[str, tuple[str, float]] = {}
    for name, stated in table.units.items():
        target, unit = ALTERNATIVES.get(name, (name, TARGET_UNITS.get(name, "")))
        spelled = UNIT_NAMES.get(stated.replace(" ", "").replace("_", "").lower(), "") if stated else ""
        if stated and target in TARGET_UNITS:
            unit = spelled
        if target in factors:
            raise ImportRefused(f"Two columns state {target}.", hint="Leave one of them out.")
        try:
            factors[name if target == name else target] = (
                name,
                convert_unit(1.0, unit, TARGET_UNITS[target]) if target in TARGET_UNITS else 1.0,
            )
        except Exception:
            raise ImportRefused(
                f"The unit of {name[:60]} is '{stated[:40]}', which is not a unit of this quantity.",
                hint=f"Use {TARGET_UNITS[target].replace('_', ' ')}.",
            ) from None
    rows: list[tuple[int, Row]] = []
    for number, cells in table.rows:
        row: Row = {}
        for target, (name, factor) in factors.items():
            if name in cells:
                row[target] = cells[name] if factor == 1 else _scale_cell(cells[name], factor)
        rows.append((number, row))
    units = {target: COLUMNS.get(target, (TEXT, ""))[1] for target in factors}
    return ParsedTable(units, rows, table.comments, table.problems, table.notes)


def _scale_cell(text: str, factor: float) -> str:
    try:
        return repr(float(text) * factor)
    except ValueError:
        return text  # reported with its row


def _read_drafts(table: ParsedTable, report: ImportReport) -> list[tuple[int, BodyDraft]]:
    drafts: list[tuple[int, BodyDraft]] = []
    used: dict[str, int] = {}
    rows_of_names: dict[str, int] = {}
    for number, cells in table.rows:
        name = cells.get("name") or cells.get("id", "")
        try:
            draft = _read_draft(cells, name, used, len(drafts))
        except ValueError as exc:
            report.skip(number, name, str(exc))
            continue
        used[draft.id] = number
        drafts.append((number, draft))
        report.note_repeated_name(name, number, draft.id, rows_of_names)
    return drafts


def _read_draft(cells: Row, name: str, used: Mapping[str, int], index: int) -> BodyDraft:
    if not name:
        raise ValueError("it has neither name nor id")
    if cells.get("id") in used:
        raise ValueError(f"the id '{cells['id'][:60]}' is in row {used[cells['id']]} already")
    kind = cells.get("type") or ("planet" if "parent" in cells else "star")
    if kind not in _TYPES:
        raise ValueError(f"type is '{kind[:40]}'; allowed are {', '.join(_TYPES)}")
    mass, radius = parse_number(cells, "mass_solar"), parse_number(cells, "radius_km")
    teff = parse_number(cells, "teff_k")
    for column, value in (("mass", mass), ("radius", radius)):
        if value is not None and value < 0:
            raise ValueError(f"its {column} is below 0")
    if mass is None and "parent" not in cells:
        raise ValueError("it has no parent and no mass: the orbits around it cannot be computed")
    physical = _read_object(cells, "physical_json")
    for field, column in PHYSICAL.items():
        value = cells.get(column) if COLUMNS[column][0] == TEXT else parse_number(cells, column)
        if value is not None and field != "displayMagnification":
            physical[field] = value
    unknown = [one for one in cells.get("unknown", "").split(";") if one]
    unknown += [
        field for field, value in (("mass", mass), ("radius", radius)) if value is None and field not in unknown
    ]
    if unknown:
        physical["unknown"] = [*unknown]
    return BodyDraft(
        cells.get("id") or make_id(name, used),
        name,
        kind,
        mass or 0.0,
        cells.get("parent"),
        kepler=_read_kepler_block(cells),
        derived=_read_derived(cells),
        radius_km=radius,
        color=cells.get("color") or (choose_star_color(teff) if kind == "star" else choose_planet_color(index)),
        physical=physical,
        sources=_read_list(cells, "sources_json") or _make_row_source(cells),
        has_complete_sources="sources_json" in cells,
        state_vector=cast("StateVector | None", _read_object(cells, "state_vector_json") or None),
        magnification=parse_number(cells, "display_magnification") or 1.0,
    )


def _make_row_source(cells: Row) -> list[Source]:
    """Return the publication in the column `source` as the source of all values that the row states."""
    title = cells.get(SOURCE)
    if title is None:
        return []
    columns = {**{f"kepler.{field}": column for field, column in KEPLER.items()}, **_CITED}
    return [
        {"id": make_id(title, ()), "title": title, "fields": [one for one, name in columns.items() if name in cells]}
    ]


def _read_derived(cells: Row) -> str | None:
    derived = cells.get("derived")
    if derived not in (None, "semiMajorAxis", "period"):
        raise ValueError("derived must be semiMajorAxis or period")
    return derived


def _read_kepler_block(cells: Row) -> Kepler | None:
    found = {field: parse_number(cells, column) for field, column in KEPLER.items()}
    block = {field: value for field, value in found.items() if value is not None}
    if not block:
        return None
    e = block.get("eccentricity", 0.0)
    if e < 0:
        raise ValueError("eccentricity is below 0")
    for field in ("period", "osculatingPeriod", "q"):
        if block.get(field, 1.0) <= 0:
            raise ValueError(f"{KEPLER[field]} must be above 0")
    if "semiMajorAxis" in block and (block["semiMajorAxis"] <= 0) != (e > 1):
        raise ValueError("semi_major_axis_au must be above 0, or below 0 with an eccentricity above 1")
    return cast("Kepler", {"units": "astronomical", **block})


def _link_parents(drafts: Sequence[tuple[int, BodyDraft]], report: ImportReport) -> list[BodyDraft]:
    """Return the bodies whose parents exist, parents first. A parent is named by its id or its name."""
    ids = {draft.id for _, draft in drafts}
    by_name: dict[str, list[BodyDraft]] = {}
    for _, draft in drafts:
        by_name.setdefault(draft.name, []).append(draft)
    children: dict[str | None, list[tuple[int, BodyDraft]]] = {}
    for number, draft in drafts:
        if draft.parent is not None and draft.parent not in ids:
            found = by_name.get(draft.parent, [])
            if len(found) != 1:
                count = f"{len(found)} bodies" if found else "no body"
                reason = f"{count} of the table has the id or name of its parent, '{draft.parent}'"
                report.skip(number, draft.name, reason)
                continue
            draft.parent = found[0].id
        children.setdefault(draft.parent, []).append((number, draft))
    placed: list[BodyDraft] = []
    generation = children.pop(None, [])
    while generation:
        placed += [draft for _, draft in generation]
        generation = sorted(
            (child for _, draft in generation for child in children.pop(draft.id, ())), key=lambda child: child[0]
        )
    for number, draft in sorted((one for group in children.values() for one in group), key=lambda one: one[0]):
        report.skip(number, draft.name, "its parent was skipped, or the parents form a ring")
    return placed


def _complete_orbits(drafts: Sequence[BodyDraft], report: ImportReport) -> list[BodyDraft]:
    """Return the bodies with both size and period of their orbits, by Kepler's third law; others are skipped."""
    kept: list[BodyDraft] = []
    skipped: set[str] = set()
    for draft in drafts:
        block = draft.kepler or {}
        if draft.parent in skipped:
            reason = "its parent was skipped"
        elif draft.parent is not None and not {"period", "semiMajorAxis", "q"} & block.keys():
            reason = "it has a parent, but neither period_days nor semi_major_axis_au"
        else:
            kept.append(draft)
            continue
        skipped.add(draft.id)
        report.skip(None, draft.name, reason)
    masses = compute_orbited_masses(
        {
            draft.id: {
                "mass": draft.mass,
                "parentId": draft.parent,
                "kepler": {"semiMajorAxis": _estimate_size(_get_elements(draft))} if draft.parent else None,
            }
            for draft in kept
        }
    )
    for draft in kept:
        if draft.parent is not None:
            _complete_orbit(draft, masses[draft.id])
    return kept


def _estimate_size(block: Mapping[str, float]) -> float:
    """Return a number that grows with the size of an orbit."""
    if "semiMajorAxis" in block:
        return abs(block["semiMajorAxis"])
    return block["q"] if "q" in block else (block["period"] / 365.25) ** (2 / 3)


def _complete_orbit(draft: BodyDraft, mass: float) -> None:
    kepler, block = draft.kepler, _get_elements(draft)
    assert kepler is not None
    e = block.get("eccentricity", 0.0)
    axis = block.get("semiMajorAxis")
    if axis is None and "q" in block:
        axis = math.inf if e == 1 else block["q"] / (1 - e)
    if axis is None:
        axis = kepler["semiMajorAxis"] = compute_semi_major_axis(block["period"], mass)
        draft.derived = draft.derived or "semiMajorAxis"
    period = block.get("period") or (compute_period(axis, mass) if e < 1 else math.inf)
    if draft.derived:
        kepler["derived"] = cast('Literal["semiMajorAxis", "period"]', draft.derived)
    plane = (block.get("inclination", 0.0), block.get("longitudeOfAscendingNode", 0.0))
    draft.orbit = ConvertedOrbit(
        axis if math.isfinite(axis) else -block["q"],
        block.get("eccentricity"),
        period,
        block.get("meanAnomaly", 0.0) - 360 * math.fmod(block.get("epoch", 0.0) / period, 1.0),
        plane if "inclination" in block else None,
        block.get("argumentOfPeriapsis"),
    )
    names = ["eccentricity", "inclination", "longitudeOfAscendingNode", "meanAnomaly"]
    if block.get("eccentricity") != 0:
        names.append("argumentOfPeriapsis")
    unknown = [f"kepler.{name}" for name in names if name not in block]
    known = list_unknown_fields(draft.physical)
    if unknown := [*known, *(one for one in unknown if one not in known)]:
        draft.physical["unknown"] = [*unknown]


def _get_elements(draft: BodyDraft) -> Mapping[str, float]:
    """Return the elements of the orbit that the table has, all of them numbers."""
    return cast("Mapping[str, float]", draft.kepler or {})


def _group_by_root(drafts: Sequence[BodyDraft]) -> list[list[BodyDraft]]:
    """Return each body without a parent with all bodies below it. Parents come first in `drafts`."""
    families: dict[str, list[BodyDraft]] = {}
    for draft in drafts:
        family = [] if draft.parent is None else families[draft.parent]
        family.append(draft)
        families[draft.id] = family
    return [families[draft.id] for draft in drafts if draft.parent is None]


def _read_object(cells: Row, column: str) -> JsonObject:
    value = _read_json(cells, column)
    if value is not None and not isinstance(value, dict):
        raise ValueError(f"{column} is not a JSON object")
    return cast("JsonObject", value or {})


def _read_list(cells: Row, column: str) -> list[Source]:
    value = _read_json(cells, column)
    if value is not None and not isinstance(value, list):
        raise ValueError(f"{column} is not a JSON list")
    found = cast("list[Any]", value or [])
    if not all(isinstance(one, dict) and "id" in one for one in found):
        raise ValueError(f"{column} is not a list of sources with ids")
    return [cast("Source", {"title": str(one["id"]), "fields": [], **one}) for one in found]


def _read_json(cells: Row, column: str) -> Any:
    try:
        return parse_json(cells[column]) if column in cells else None
    except json.JSONDecodeError as exc:
        raise ValueError(f"{column} is not JSON ({exc.msg})") from None
