"""Read Solar System bodies from answers of JPL Horizons: tables of vectors or of osculating elements.

The first instant of a table counts. Several answers for the same instant and centre become one universe.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, cast

import numpy as np

from universe.domain.exchange.imported_systems import (
    BodyDraft,
    ImportedSystem,
    ImportReport,
    choose_planet_color,
    choose_star_color,
    list_unknown_fields,
    make_id,
    make_kepler,
    make_state,
)
from universe.domain.exchange.vector_table import VectorBody, make_drafts
from universe.domain.field_types import Source
from universe.domain.orbits.kepler_equation import Floats
from universe.domain.systems.bodies import GM_SUN
from universe.domain.systems.stated_orbit_conversion import ConvertedOrbit, make_equator_rotation, rotate_orbit_angles
from universe.domain.units_and_dates import AU_IN_METRES, DAY_IN_SECONDS, G, compute_period
from universe.errors import ImportRefused
from uraniborg.kernel.boundary import parse_json
from uraniborg.kernel.json_values import Json, JsonObject

_FIELD: Final = r"^\s*{}\s*:\s*(.+?)\s*(?:\{{source:[^}}]*\}}\s*)?$"
_GM: Final = re.compile(r"\bGM(?:[ ,]*\(?km\^3/s\^2\)?)?\s*=\s*([0-9.]+(?:E[+-]?\d+)?)")
_RADIUS: Final = re.compile(r"(?:\bRAD|[Mm]ean [Rr]adius[^=\n]*)\s*=\s*([0-9.]+)")
_CODE: Final = re.compile(r"\((\d+)\)\s*$")
_SUN: Final = "10"
_BARYCENTRE: Final = "0"
_ECLIPTIC: Final = make_equator_rotation(-90.0, 90.0)
"""The rotation from the equator of J2000 to its ecliptic."""
_KM: Final = 1e3 / AU_IN_METRES
_UNITS: Final = {"AU-D": (1.0, 1.0), "KM-D": (_KM, _KM), "KM-S": (_KM, _KM * DAY_IN_SECONDS)}
"""AU in one unit of length, and AU a day in one unit of velocity."""
_VECTORS: Final = ("X", "Y", "Z", "VX", "VY", "VZ")
_ELEMENTS: Final = ("EC", "IN", "OM", "W", "MA", "A")


@dataclass
class HorizonsAnswer:
    """One table: its target, its centre, the instant and the values of the first row."""

    target: str
    centre: str
    julian_date: float
    values: dict[str, float]
    is_elements: bool
    is_equatorial: bool
    length: float
    """AU in one unit of length."""
    speed: float
    """AU a day in one unit of velocity."""
    mass: float | None
    radius_km: float | None
    centre_mass: float | None
    skipped_rows: int
    kind: str

    @property
    def code(self) -> str:
        """Return the number of the target, or an empty string for small bodies."""
        found = _CODE.search(self.target)
        return found[1] if found else ""

    @property
    def name(self) -> str:
        """Return the name of the target without its number."""
        return re.sub(r"^\d+ (?=\D)", "", _CODE.sub("", self.target).strip()) or self.target


def is_horizons_text(text: str) -> bool:
    """Return True for an answer of Horizons, as text or JSON."""
    return "$$SOE" in text or "JPL/HORIZONS" in text[:20_000] or "NASA/JPL Horizons API" in text[:2_000]


def import_horizons(texts: Sequence[str]) -> ImportReport:
    """Return one system of all bodies in these answers. Raise ImportRefused."""
    report = ImportReport("horizons")
    answers: list[HorizonsAnswer] = []
    for answer in (_read_answer(text) for text in texts):
        if any((answer.target, answer.julian_date) == (one.target, one.julian_date) for one in answers):
            report.skip(None, answer.name, "the body is in an earlier answer already")
        else:
            answers.append(answer)
    first = answers[0]
    for answer in answers:
        if answer.skipped_rows:
            report.skip(None, answer.name, f"{answer.skipped_rows:,} further instants; the first is time 0")
    if any(one.julian_date != first.julian_date for one in answers):
        raise ImportRefused(
            "The answers hold at different instants.", hint="Ask for the same TLIST or START_TIME for all bodies."
        )
    if len({(one.centre, one.is_elements) for one in answers}) > 1:
        raise ImportRefused(
            "The answers have different centres or tables.", hint="Ask for the same CENTER and EPHEM_TYPE for all."
        )
    drafts = _make_element_drafts(answers) if first.is_elements else _make_vector_drafts(answers)
    for draft in drafts:
        draft.physical["epochJulianDate"] = first.julian_date
        draft.physical["referencePlane"] = "The ecliptic of J2000.0."
        if "mass" in list_unknown_fields(draft.physical):
            report.note(f"{draft.name}: the answer states no GM; the mass is unknown and counts as 0.")
    title = ", ".join(answer.name for answer in answers[:3]) + (", …" if len(answers) > 3 else "")
    report.systems.append(ImportedSystem(title, make_state(drafts), len(answers)))
    return report.require_systems()


def _read_answer(text: str) -> HorizonsAnswer:
    text = _extract_text(text)
    begin, end = text.find("$$SOE"), text.find("$$EOE")
    if begin < 0 or end < 0:
        raise ImportRefused(
            f"Horizons gave no table: {_find_complaint(text)}",
            hint="The table may be cut off, or the name has no match or several: try a number, or 'Ceres;'.",
        )
    head, body = text[:begin], text[begin + 5 : end]
    titles = [one for one in head.splitlines() if one.strip() and not set(one.strip()) <= {"*"}]
    header = [name.strip() for name in titles[-1].split(",")] if titles else []
    names = _ELEMENTS if "EC" in header else _VECTORS
    if not all(name in header for name in names) or not any("JD" in name for name in header[:1]):
        raise ImportRefused(
            "The table has neither vectors nor elements with labels in CSV.",
            hint="Ask for EPHEM_TYPE=VECTORS or ELEMENTS with CSV_FORMAT=YES; an observer table has no orbit.",
        )
    lines = [line for line in body.splitlines() if line.strip()]
    if not lines:
        raise ImportRefused("The table of Horizons is empty.", hint="Ask for one instant.")
    cells = [cell.strip() for cell in lines[0].split(",")]
    try:
        values = {name: float(cells[header.index(name)]) for name in (header[0], *names)}
    except (ValueError, IndexError):
        raise ImportRefused(
            "A value in the table of Horizons is not a number.", hint="Ask for the table again."
        ) from None
    if not np.isfinite(list(values.values())).all():
        raise ImportRefused("A value in the table of Horizons is not finite.", hint="Ask for the table again.")
    length, speed = _read_units(_find_field(head, "Output units"))
    gm, radius, central = _GM.search(head), _RADIUS.search(head), _find_field(head, "Keplerian GM")
    return HorizonsAnswer(
        _find_field(head, "Target body name") or "Body",
        _find_centre(head),
        values.pop(header[0]),
        values,
        names is _ELEMENTS,
        "ecliptic" not in (_find_field(head, "Reference frame") or "ecliptic").lower(),
        length,
        speed,
        None if gm is None else float(gm[1]) / GM_SUN,
        None if radius is None else float(radius[1]),
        _read_central_mass(central),
        len(lines) - 1,
        _find_kind(head),
    )


def _extract_text(text: str) -> str:
    """Return the report inside a JSON answer, or the text itself. Raise ImportRefused for a JSON error."""
    if not text.lstrip().startswith("{"):
        return text
    try:
        given = parse_json(text)
    except json.JSONDecodeError as exc:
        raise ImportRefused(f"The answer of Horizons is not JSON: {exc.msg}.", hint="It may be cut off.") from None
    fields = cast("JsonObject", given)
    if "result" not in fields:
        problem = str(fields.get("error") or fields.get("message") or "without a reason")
        raise ImportRefused(f"Horizons reported an error: {problem[:300]}", hint="Correct the request.")
    return str(fields["result"])


def _find_complaint(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip() and not set(line.strip()) <= {"*"}]
    telling = [line for line in lines if re.search(r"no match|no ephemeris|error|multiple|cannot", line, re.IGNORECASE)]
    return " ".join((telling or lines[-2:])[:2])[:300] or "the answer is empty"


def _find_field(head: str, name: str) -> str | None:
    found = re.search(_FIELD.format(re.escape(name).replace(r"\ ", r"\s+")), head, re.MULTILINE)
    return found[1] if found else None


def _read_units(stated: str | None) -> tuple[float, float]:
    """Return AU in one unit of length, and AU a day in one unit of velocity. Raise ImportRefused."""
    units = (stated or "").split(",")[0].strip().upper()
    if units not in _UNITS:
        raise ImportRefused(
            f"The output units are '{units[:40]}', which are not known."
            if units
            else "The answer does not state its output units.",
            hint=f"Ask for OUT_UNITS={' or '.join(_UNITS)}.",
            allowed=list(_UNITS),
        )
    return _UNITS[units]


def _find_centre(head: str) -> str:
    centre = _find_field(head, "Center body name") or ""
    found = _CODE.search(centre)
    return found[1] if found else _SUN


def _read_central_mass(field: str | None) -> float | None:
    """Return the central mass in solar masses, of a value such as `2.95E-04 au^3/d^2` or `1.3E+11 km^3/s^2`."""
    parts = (field or "").split()
    if len(parts) < 2:
        return None
    value = float(parts[0])
    return value / G if parts[1].lower().startswith("au") else value / GM_SUN


def _find_kind(head: str) -> str:
    code = _CODE.search(_find_field(head, "Target body name") or "")
    if code:
        return "star" if code[1] == _SUN else "planet" if code[1].endswith("99") or len(code[1]) == 1 else "moon"
    return "comet" if "omet" in head and "Asteroid" not in head else "asteroid"


def _make_vector_drafts(answers: Sequence[HorizonsAnswer]) -> list[BodyDraft]:
    centre = answers[0].centre
    bodies: list[VectorBody] = []
    for answer in answers:
        values = np.array([answer.values[name] for name in _VECTORS])
        position, velocity = (
            _to_ecliptic(answer, values[:3] * answer.length),
            _to_ecliptic(answer, values[3:] * answer.speed),
        )
        bodies.append(_make_vector_body(answer, position, velocity, [one.id for one in bodies]))
    if not any(answer.code == _SUN for answer in answers):
        if centre != _SUN:
            raise ImportRefused(
                f"The vectors are about the body {centre}, which is not among the answers.",
                hint="Ask for CENTER='500@10' (the Sun), or add the vectors of the Sun; for moons ask for ELEMENTS.",
            )
        bodies.append(VectorBody("sun", "Sun", 1.0, np.zeros(3), np.zeros(3), "star", 695_700.0))
    try:
        return make_drafts(bodies)
    except ValueError as exc:
        raise ImportRefused(f"No orbits can be computed: {exc}.", hint="Check the answers.") from None


def _make_vector_body(answer: HorizonsAnswer, position: Floats, velocity: Floats, used: list[str]) -> VectorBody:
    mass = 1.0 if answer.code == _SUN else answer.mass
    fields = ["kepler.semiMajorAxis", "kepler.eccentricity", "kepler.inclination", "kepler.meanAnomaly"]
    more = ["kepler.longitudeOfAscendingNode", "kepler.argumentOfPeriapsis"]
    return VectorBody(
        make_id(answer.name, used),
        answer.name,
        mass or 0.0,
        position,
        velocity,
        answer.kind,
        answer.radius_km,
        _list_unknown(mass, answer.radius_km),
        [_make_source(answer, [*fields, *more])],
    )


def _make_element_drafts(answers: Sequence[HorizonsAnswer]) -> list[BodyDraft]:
    centre_mass = answers[0].centre_mass
    centre = answers[0].centre
    if centre_mass is None and centre != _SUN:
        raise ImportRefused(
            "The answer does not state the mass of the centre (Keplerian GM).", hint="Ask for CENTER='500@10'."
        )
    name = "Sun" if centre == _SUN else f"Body {centre}"
    # The centre is not heavier than the Sun by rounding of the constant.
    mass = 1.0 if centre == _SUN else centre_mass or 1.0
    drafts = [
        BodyDraft(
            make_id(name, ()),
            name,
            "star" if centre == _SUN else "planet",
            mass,
            radius_km=695_700.0 if centre == _SUN else None,
            color=choose_star_color(5_772),
        )
    ]
    for index, answer in enumerate(answers):
        drafts.append(_make_element_draft(answer, drafts[0], [one.id for one in drafts], index))
    return drafts


def _make_element_draft(answer: HorizonsAnswer, centre: BodyDraft, used: list[str], index: int) -> BodyDraft:
    values = answer.values
    tilt, node, periapsis = values["IN"], values["OM"], values["W"]
    if answer.is_equatorial:
        tilt, node, periapsis = rotate_orbit_angles(_ECLIPTIC, tilt, node, periapsis)
    axis, e, mean = values["A"] * answer.length, values["EC"], values["MA"]
    period = compute_period(abs(axis), centre.mass + (answer.mass or 0.0))
    draft = BodyDraft(
        make_id(answer.name, used),
        answer.name,
        answer.kind if answer.kind != "planet" or centre.kind == "star" else "moon",
        answer.mass or 0.0,
        centre.id,
        ConvertedOrbit(axis, e, period, mean, (tilt, node), periapsis),
        derived="period",
        radius_km=answer.radius_km,
        color=choose_planet_color(index),
        physical=_list_unknown(answer.mass, answer.radius_km),
        sources=[
            _make_source(
                answer,
                [
                    f"kepler.{field}"
                    for field in (
                        *("semiMajorAxis", "eccentricity", "inclination"),
                        *("longitudeOfAscendingNode", "argumentOfPeriapsis", "meanAnomaly"),
                    )
                ],
            )
        ],
    )
    draft.kepler = make_kepler(axis, e, tilt, node, periapsis, mean, period)
    return draft


def _list_unknown(mass: float | None, radius: float | None) -> JsonObject:
    unknown: list[Json] = [name for name, value in (("mass", mass), ("radius", radius)) if value is None]
    return {"unknown": unknown} if unknown else {}


def _make_source(answer: HorizonsAnswer, fields: list[str]) -> Source:
    stated = [*fields, *(["mass"] if answer.mass is not None else []), *(["radius"] if answer.radius_km else [])]
    table = "elements" if answer.is_elements else "vectors"
    return {
        "id": "jpl-horizons",
        "title": f"JPL Horizons, {table} of {answer.target}",
        "authors": ["Solar System Dynamics Group, Jet Propulsion Laboratory"],
        "url": "https://ssd.jpl.nasa.gov/horizons/",
        "fields": stated,
    }


def _to_ecliptic(answer: HorizonsAnswer, vector: Floats) -> Floats:
    return _ECLIPTIC @ vector if answer.is_equatorial else vector
