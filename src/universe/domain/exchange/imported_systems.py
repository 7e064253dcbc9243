"""What an import makes: bodies under construction, systems with their states, and the report of rows and notes."""

import math
import re
import unicodedata
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Final, cast

from pydantic import Field
from typing_extensions import TypedDict

from universe.domain.entities import Entity
from universe.domain.field_types import Kepler, SetBy, Source, StateVector
from universe.domain.names_and_numbers import join_words
from universe.domain.provenance.citations import list_cited_fields, replace_set_by_records, replace_sources
from universe.domain.state import Plain
from universe.domain.units_and_dates import SOLAR_MASS_IN_KG, convert_unit
from universe.errors import ImportRefused
from uraniborg.kernel.language.messages import plural

if TYPE_CHECKING:
    from universe.domain.systems.stated_orbit_conversion import ConvertedOrbit


class SkippedRow(TypedDict):
    """A row that was not imported, or a body without a row."""

    row: int | None
    name: str
    reason: str


class ImportedSystemFacts(TypedDict):
    """A system of a table, with the numbers of its bodies and rows."""

    name: str
    bodies: int
    rows: int


class ImportFacts(TypedDict):
    """The systems of a file, and everything that was left out or assumed. Long lists are cut."""

    format: str
    systems: list[ImportedSystemFacts]
    skipped: list[SkippedRow]
    skippedCount: Annotated[int, Field(description="The number of all skipped rows.")]
    notes: list[str]


_LISTED: Final = 200
"""The most skipped rows and notes in a reply; all are counted."""
_EXAMPLES: Final = 3
_ASSUMED: Final = {
    "kepler.eccentricity": "The eccentricity of {} is not known: the orbits were taken as circles.",
    "kepler.inclination": "The inclination of {} is not known: the orbits were put into {plane}.",
    "kepler.longitudeOfAscendingNode": "The node of {} is not known and was set to 0.",
    "kepler.argumentOfPeriapsis": "The argument of periapsis of {} is not known and was set to 0.",
    "kepler.meanAnomaly": "The phase of {} is not known: the mean anomaly at time 0 was set to 0.",
    "mass": "The mass of {} is not known and was set to 0.",
}
"""What an import does about an unknown value, by its field."""
_MASS_IS: Final = {
    "minimum": "The mass of {} is a minimum, M sin i, and was taken as the mass.",
    "estimate": "The mass of {} is an estimate from the radius.",
}


@dataclass
class ImportedSystem:
    """One system: a star or a barycentre with its bodies, as the state of a universe."""

    name: str
    state: Plain
    rows: int = 0


@dataclass
class ImportReport:
    """The systems of a file, and everything that was left out or assumed."""

    format: str
    systems: list[ImportedSystem] = field(default_factory=list[ImportedSystem])
    skipped: list[SkippedRow] = field(default_factory=list[SkippedRow])
    notes: list[str] = field(default_factory=list[str])
    _noted: set[str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._noted = set(self.notes)

    def skip(self, row: int | None, name: str, reason: str) -> None:
        """Record that a row, or a body without a row, was left out."""
        self.skipped.append({"row": row, "name": name[:200], "reason": reason})

    def note(self, text: str) -> None:
        """Record an assumption or a fact that the reader should know, once."""
        if text not in self._noted:
            self._noted.add(text)
            self.notes.append(text)

    def note_assumptions(self, plane: str = "the reference plane") -> None:
        """Note the values that the systems lack and what was taken instead, with the number of bodies and examples."""
        bodies = [body for system in self.systems for body in system.state["stars"].values()]
        names: dict[str, list[str]] = {}
        for body in bodies:
            physical = cast("Entity", body["physical"])
            unknown = cast("list[str]", physical.get("unknown") or [])
            texts = [text for field_name, text in _ASSUMED.items() if field_name in unknown]
            if "kepler.eccentricity" in unknown:  # a circle has no periapsis
                texts = [text for text in texts if text != _ASSUMED["kepler.argumentOfPeriapsis"]]
            texts += [text for kind, text in _MASS_IS.items() if physical.get("massIs") == kind]
            if physical.get("limits"):
                texts.append("Limits are not values, and those of {} were not used.")
            for text in texts:
                names.setdefault(text, []).append(str(body["name"]))
        for text in (*_ASSUMED.values(), *sorted(names)):
            if text in names:
                self.note(text.format(list_examples(names[text], "bodies"), plane=plane))

    def note_repeated_name(self, name: str, row: int, body_id: str, rows_of_names: dict[str, int]) -> None:
        """Note that the name is that of an earlier row. `rows_of_names` has the names of the rows up to this one."""
        first = rows_of_names.setdefault(name, row)
        if first != row:
            self.note(
                f"Row {row}: the name '{name[:60]}' is in row {first} already; both bodies were imported, this one as "
                f"'{body_id[:60]}'. If they are one body, remove one of the rows."
            )

    def require_systems(self) -> "ImportReport":
        """Return the report. Raise ImportRefused if there is no system."""
        if self.systems:
            return self
        first = self.skipped[0] if self.skipped else None
        reason = f" For example {first['name'] or 'row ' + str(first['row'])}: {first['reason']}." if first else ""
        raise ImportRefused(
            " ".join(
                [
                    f"No system can be imported: {plural(len(self.skipped), 'row was', 'rows were')} skipped.{reason}",
                    *self.notes[:1],
                ]
            ),
            hint="Correct the rows, or add the columns that are missing.",
            format=self.format,
            skipped=self.skipped[:_LISTED],
            skippedCount=len(self.skipped),
            notes=self.notes[:_LISTED],
        )

    def describe(self) -> ImportFacts:
        """Return the report as JSON values, without the states."""
        return {
            "format": self.format,
            "systems": [
                {"name": one.name, "bodies": len(one.state["stars"]), "rows": one.rows} for one in self.systems
            ],
            "skipped": self.skipped[:_LISTED],
            "skippedCount": len(self.skipped),
            "notes": self.notes[:_LISTED],
        }

    def merge_systems(self) -> Plain:
        """Return one state with all systems. Ids are unique over the whole report."""
        stars: dict[str, Entity] = {}
        for system in self.systems:
            stars.update(system.state["stars"])
        roots = [root for system in self.systems for root in system.state["rootIds"]]
        return {**self.systems[0].state, "stars": stars, "rootIds": roots}


def list_examples(names: Sequence[str], noun: str) -> str:
    """Return up to three names, with the number of all if there are more."""
    if len(names) <= _EXAMPLES:
        return join_words(names)
    return f"{len(names):,} {noun} ({', '.join(names[:_EXAMPLES])}, …)"


_NOT_IN_ID: Final = re.compile(r"[^a-z0-9]+")
_PLANETS: Final = ("#d98d6b", "#c9a66b", "#7fa7c9", "#8fbf8f", "#b39ad1", "#d1b06b", "#6bb5b0", "#c98fa7")
_STARS: Final = ((3_700, "#ff8a5c"), (5_200, "#ffc27d"), (6_000, "#fff2a8"), (7_500, "#fff8ec"), (math.inf, "#cfe0ff"))
"""The colour of a star up to an effective temperature in kelvin."""
_UNKNOWN_STAR: Final = "#ffe9c0"
_ID_CHARS: Final = 100
_IMPORT: Final = "the import"
CIRCLE: Final = "the eccentricity is not known, and the orbit was taken as a circle"


@dataclass
class BodyDraft:
    """A body in solar masses, AU, days and degrees. Each source lists the fields that it states."""

    id: str
    name: str
    kind: str
    mass: float
    parent: str | None = None
    orbit: "ConvertedOrbit | None" = None
    kepler: Kepler | None = None
    """The block itself, where it is known; else it is made from the orbit."""
    derived: str | None = None
    radius_km: float | None = None
    color: str = ""
    physical: Entity = field(default_factory=Entity)
    sources: list[Source] = field(default_factory=list[Source])
    has_complete_sources: bool = False
    """True if the sources list all fields that they support."""
    assumed: dict[str, str] = field(default_factory=dict[str, str])
    """The fields that no source states, with the reason of their values."""
    state_vector: StateVector | None = None
    magnification: float = 1.0


def make_id(name: str, used: Container[str]) -> str:
    """Return an id made of the name, with a number if the id is used."""
    folded = unicodedata.normalize("NFKD", name).casefold()
    plain = _NOT_IN_ID.sub("-", "".join(char for char in folded if not unicodedata.combining(char))).strip("-")
    base = plain[:_ID_CHARS] or "body"
    if base not in used:
        return base
    # Thousands of bodies can have one name: look for the first free number by halving.
    below, free = 1, 2
    while f"{base}-{free}" in used:
        below, free = free, 2 * free
    while free - below > 1:
        middle = (below + free) // 2
        below, free = (middle, free) if f"{base}-{middle}" in used else (below, middle)
    return f"{base}-{free}"


def list_unknown_fields(physical: Mapping[str, Any]) -> list[str]:
    """Return the fields whose values are not known, as the block `physical` of a body lists them."""
    return cast("list[str]", physical.get("unknown") or [])


def choose_star_color(teff: float | None) -> str:
    """Return the colour of a star by its effective temperature."""
    return _UNKNOWN_STAR if teff is None else next(color for limit, color in _STARS if teff <= limit)


def choose_planet_color(index: int) -> str:
    return _PLANETS[index % len(_PLANETS)]


def make_state(drafts: Sequence[BodyDraft]) -> Plain:
    """Return the plain state of these bodies at time 0, parents before children."""
    children: dict[str, list[str]] = {draft.id: [] for draft in drafts}
    for draft in drafts:
        if draft.parent is not None:
            children[draft.parent].append(draft.id)
    return {
        "stars": {draft.id: _make_body(draft, children[draft.id]) for draft in drafts},
        "rootIds": [draft.id for draft in drafts if draft.parent is None],
        "groups": {},
        "rootGroupIds": [],
        "belts": {},
        "smallBodyFields": {},
        "protoplanetaryDisks": {},
        "nebulae": {},
        "time": 0,
    }


def make_kepler(
    axis: float, e: float, tilt: float, node: float, periapsis: float, mean: float, period: float
) -> Kepler:
    """Return an orbit at the epoch 0 with a period that was computed; an open orbit does not have one."""
    kepler: Kepler = {
        "units": "astronomical",
        "semiMajorAxis": axis,
        "eccentricity": e,
        "inclination": tilt,
        "longitudeOfAscendingNode": node,
        "argumentOfPeriapsis": periapsis,
        "meanAnomaly": mean,
        "epoch": 0.0,
        "derived": "period",
    }
    return {**kepler, "period": period} if e < 1 else kepler


def _make_body(draft: BodyDraft, children: Sequence[str]) -> Entity:
    radius = 0.0 if draft.radius_km is None else convert_unit(draft.radius_km, "km", "au") * draft.magnification
    body: Entity = {
        "id": draft.id,
        "name": draft.name,
        "bodyType": draft.kind,
        "mass": draft.mass,
        "radius": radius,
        "color": draft.color or choose_planet_color(0),
        "parentId": draft.parent,
        "children": [*children],
        **_make_scene_fields(draft),
    }
    if draft.kepler is not None or draft.orbit is not None:
        from universe.domain.systems.bodies import make_kepler_block  # imports numpy

        kepler = draft.kepler or make_kepler_block(_require(draft.orbit), draft.derived)
        body["kepler"] = cast("Entity", kepler)
    if draft.state_vector is not None:
        body["stateVector"] = cast("Entity", draft.state_vector)
    body["physical"] = {
        "massKg": draft.mass * SOLAR_MASS_IN_KG,
        **({} if draft.radius_km is None else {"radiusKm": draft.radius_km}),
        "displayMagnification": draft.magnification,
        **draft.physical,
    }
    if draft.sources:
        body = replace_sources(body, draft.sources)
        records = {} if draft.has_complete_sources else _make_set_by_records(body, draft)
        body = replace_set_by_records(body, records)
    return body


def _make_scene_fields(draft: BodyDraft) -> Entity:
    if draft.orbit is None or draft.parent is None:
        return {"orbitalDistance": 0.0, "orbitalSpeed": 0.0, "orbitalPhase": 0.0}
    if (draft.orbit.eccentricity or 0.0) >= 1:
        distance = draft.orbit.semi_major_axis * (1 - _require(draft.orbit.eccentricity))
        return {"orbitalDistance": distance, "orbitalSpeed": 0.0, "orbitalPhase": 0.0}
    from universe.domain.systems.bodies import compute_scene_orbit_fields  # imports numpy

    return {**compute_scene_orbit_fields(draft.orbit)}


def _make_set_by_records(body: Entity, draft: BodyDraft) -> dict[str, SetBy]:
    """Return the records of the values that the import computed from stated ones, or assumed."""
    from universe.domain.systems.bodies import map_computed_fields  # imports numpy

    stated = [name for source in draft.sources for name in list_cited_fields(source)]
    bases = map_computed_fields(body, (*stated, *draft.assumed))
    is_circle = "kepler.eccentricity" in list_unknown_fields(draft.physical)
    records: dict[str, SetBy] = {}
    for name, basis in bases.items():
        records[name] = {"version": 1, "by": _IMPORT, "basis": basis}
        if is_circle and name.startswith("orbitOffset"):
            records[name]["reason"] = CIRCLE
    for name, reason in draft.assumed.items():
        records[name] = {"version": 1, "by": _IMPORT, "reason": reason}
    return records


def _require(value: Any) -> Any:
    assert value is not None
    return value
