"""Decide the status of a value, such as cited or computed, and find the shipped and stated numbers behind it.

The status is computed on request and never stored.
"""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cache, lru_cache
from typing import Any, Final, cast

from universe.claims import SUPPORTED, ClaimStatus, PaperTextReader, check_claim
from universe.domain.entities import Entity
from universe.domain.field_types import SetBy, Source
from universe.domain.provenance.bibliography import Status
from universe.domain.provenance.citations import get_set_by_records, list_cited_fields, list_sources
from universe.domain.provenance.derived_fields import get_field_value
from universe.domain.systems.bodies import GM_SUN, make_bodies
from universe.domain.systems.catalogue import list_system_names, read_system_data
from universe.domain.units_and_dates import convert_to_tdb_in_range
from uraniborg.kernel.errors import InvalidInput

_LABELS: Final[dict[str, tuple[str, str]]] = {
    "massEarth": ("", "Earth masses"),
    "massSolar": ("", "solar masses"),
    "massGmKm3PerS2": ("GM", "km^3/s^2"),
    "radiusEarth": ("", "Earth radii"),
    "radiusSolar": ("", "solar radii"),
    "radiusKm": ("", "km"),
    "teffKelvin": ("", "K"),
    "luminositySolar": ("", "solar luminosities"),
    "semiMajorAxisAu": ("", "AU"),
    "semiMajorAxisKm": ("", "km"),
    "semiMajorAxisArcsec": ("semi-major axis on the sky", "arcsec"),
    "parallaxArcsec": ("parallax", "arcsec"),
    "periodDays": ("", "days"),
    "osculatingPeriodDays": ("", "days"),
    "eccentricity": ("", ""),
    "eCosOmega": ("e cos omega", ""),
    "eSinOmega": ("e sin omega", ""),
    "omegaOf": ("omega is that of", ""),
    "inclinationDeg": ("inclination", "degrees"),
    "skyInclinationDeg": ("inclination to the sky", "degrees"),
    "nodeDeg": ("ascending node", "degrees"),
    "skyNodeDeg": ("node on the sky", "degrees"),
    "longitudeOfNodeDeg": ("longitude of the node", "degrees"),
    "argumentOfPeriapsisDeg": ("argument of periapsis", "degrees"),
    "longitudeOfPeriapsisDeg": ("longitude of periapsis", "degrees"),
    "meanAnomalyDeg": ("mean anomaly", "degrees"),
    "meanLongitudeDeg": ("mean longitude", "degrees"),
    "earthLongitudeDeg": ("longitude at conjunction", "degrees"),
    "poleRaDeg": ("right ascension of the pole", "degrees"),
    "poleDecDeg": ("declination of the pole", "degrees"),
    "meridianDeg": ("prime meridian", "degrees"),
    "epochJd": ("epoch JD", ""),
    "transitJd": ("transit at JD", ""),
    "periapsisJd": ("periapsis at JD", ""),
    "conjunctionJd": ("conjunction at JD", ""),
}
"""For each key of the data: the quantity, where the field does not name it already, and the unit."""
_SKY: Final = ("skyInclinationDeg", "skyNodeDeg", "poleRaDeg", "poleDecDeg")
_SIZE: Final = ("periodDays", "osculatingPeriodDays")
_KEYS: Final[dict[str, tuple[str, ...]]] = {
    "mass": ("massEarth", "massSolar", "massGmKm3PerS2"),
    "radius": ("radiusEarth", "radiusSolar", "radiusKm"),
    "physical.radiusKm": ("radiusEarth", "radiusSolar", "radiusKm"),
    "physical.teffKelvin": ("teffKelvin",),
    "physical.luminositySolar": ("luminositySolar",),
    "kepler.semiMajorAxis": ("semiMajorAxisAu", "semiMajorAxisKm", "semiMajorAxisArcsec", "parallaxArcsec"),
    "kepler.eccentricity": ("eccentricity", "eCosOmega", "eSinOmega"),
    "kepler.inclination": ("inclinationDeg", *_SKY),
    "kepler.longitudeOfAscendingNode": ("nodeDeg", "longitudeOfNodeDeg", *_SKY),
    "kepler.argumentOfPeriapsis": (
        *("argumentOfPeriapsisDeg", "longitudeOfPeriapsisDeg", "longitudeOfNodeDeg", "eCosOmega", "eSinOmega"),
        *("omegaOf", *_SKY),
    ),
    "kepler.meanAnomaly": (
        *("meanAnomalyDeg", "meanLongitudeDeg", "longitudeOfPeriapsisDeg", "earthLongitudeDeg", "meridianDeg"),
        *("eCosOmega", "eSinOmega", "epochJd", "transitJd", "periapsisJd", "conjunctionJd", *_SIZE),
    ),
    "kepler.period": ("periodDays", "meanLongitudeDeg", "meridianDeg"),
    "kepler.osculatingPeriod": ("osculatingPeriodDays",),
}
"""For each field: the keys of the data that may state it."""
_AS_WRITTEN: Final = ("doi", "title", "venue")
"""Facts of a publication that bibliographies write in upper or lower case, a venue also without its volume."""
_NEAR: Final = 1e-9
"""Other processors compute the same value with another last digit."""
_MAY_BE_NEAR_ZERO: Final = re.compile(r"orbit(Rot|Offset|alPhase)|stateVector|.*(inclination|Node|Periapsis|Anomaly)$")
"""Angles and vector components: the tolerance is in degrees, AU and AU per day."""


@dataclass(frozen=True, slots=True)
class ShippedValue:
    """A value that the shipped data give, the publications it is from, and the numbers that these state."""

    value: Any
    sources: tuple[Mapping[str, Any], ...]
    file: str
    stated: tuple[str, ...]
    """With units, such as `0.692 Earth masses`; empty for a value that follows from others."""
    note: str
    """How a mass or a radius was estimated, where it was not measured; else empty."""
    divisor: str
    """The number that a stated one is divided by, such as the GM of the Sun; else empty."""
    magnification: float
    """Of radii, for display."""
    tolerance: float

    def matches_value(self, value: Any) -> bool:
        """Return True if a value equals the shipped value, except for the last digits."""
        return _is_close(self.value, value, self.tolerance)

    def matches_publication(self, source: Mapping[str, Any]) -> bool:
        """Return True for a source that describes one of the publications of this value, and nothing else."""
        return any(_is_same_publication(one, source) for one in self.sources)


def find_shipped_value(body: Mapping[str, Any], field: str) -> ShippedValue | None:
    """Return the shipped value of a field of a body at its epoch; None if there is none."""
    key: Any = body.get("id")
    name = _map_bodies_to_systems().get(key) if isinstance(key, str) else None
    physical: Any = body.get("physical")
    epoch = cast("Mapping[str, Any]", physical).get("epochJulianDate") if isinstance(physical, Mapping) else None
    if name is None or isinstance(epoch, bool) or not isinstance(epoch, (int, float)):
        return None
    shipped_body = _make_bodies_or_empty(name, float(epoch)).get(key)
    value = None if shipped_body is None else _get_dotted_field(shipped_body, field)
    if shipped_body is None or value is None:
        return None
    sources = tuple(one for one in list_sources(shipped_body) if field in list_cited_fields(one))
    facts = next(one for one in _read_cached_system(name)["bodies"] if one["id"] == key)
    note = facts.get("note", "") if f"{field}Is" in facts else ""
    tolerance = _NEAR if _MAY_BE_NEAR_ZERO.match(field) else 0.0
    return ShippedValue(
        value,
        sources,
        f"universe/systems/data/{name}.json",
        tuple(_format_stated_numbers(facts, field)),
        note,
        f"{GM_SUN} km^3/s^2, GM of the Sun" if field == "mass" and "massGmKm3PerS2" in facts else "",
        _read_cached_system(name)["displayMagnification"],
        tolerance,
    )


def _format_stated_numbers(facts: Mapping[str, Any], field: str) -> Iterator[str]:
    if field.startswith("stateVector."):
        yield f"{field.partition('.')[2]} of the state vector"
        return
    if field == "name":
        yield facts["name"]
    holder = facts.get("orbit", {}) if field.startswith("kepler.") else facts
    is_mean = "osculatingPeriodDays" in holder
    for key in _KEYS.get(field, ()):
        if key in holder and not (key == "periodDays" and is_mean and field != "kepler.period"):
            label, unit = _LABELS[key]
            yield " ".join(part for part in (label, *_list_number_parts(holder[key], unit, key)) if part)


def _list_number_parts(value: Any, unit: str, key: str) -> tuple[str, ...]:
    if isinstance(value, list):  # a value and its rate
        start, rate = cast("list[float]", value)
        return str(start), unit, f"{rate:+} a {'day' if key == 'meridianDeg' else 'century'}"
    return str(value), unit


def _is_same_publication(shipped: Mapping[str, Any], source: Mapping[str, Any]) -> bool:
    """Return True for a source with the same facts, or with the same DOI and title and no fact that differs."""
    given = {name: value for name, value in source.items() if name not in ("fields", "locations")}
    differing = {name for name, value in given.items() if shipped.get(name) != value}
    if not differing:
        return given.keys() == shipped.keys() - {"fields", "locations"}
    texts = {name: (str(shipped.get(name)).casefold(), str(given.get(name)).casefold()) for name in _AS_WRITTEN}
    return (
        "doi" in shipped
        and differing <= {*_AS_WRITTEN, "authors"}
        and texts["doi"][0] == texts["doi"][1]
        and texts["title"][0] == texts["title"][1]
        and texts["venue"][0].startswith(texts["venue"][1])
        and _list_family_names(given) <= _list_family_names(shipped)
    )


def _list_family_names(source: Mapping[str, Any]) -> set[str]:
    from uraniborg.kernel.bibliography.names import split_name  # few sources need it, and it is slow to load

    authors = source.get("authors")
    listed = cast("list[Any]", authors) if isinstance(authors, list) else [authors]
    return {split_name(str(one)).family.casefold() for one in listed}


def _is_close(one: Any, other: Any, tolerance: float) -> bool:
    if isinstance(one, list):
        mine, yours = cast("list[Any]", one), cast("list[Any]", other if isinstance(other, list) else [])
        return len(mine) == len(yours) and all(_is_close(*pair, tolerance) for pair in zip(mine, yours, strict=True))
    if isinstance(one, bool) or isinstance(other, bool) or not isinstance(one, (int, float)):
        return one == other and isinstance(one, bool) == isinstance(other, bool)
    return isinstance(other, (int, float)) and math.isclose(one, other, rel_tol=_NEAR, abs_tol=tolerance)


def _get_dotted_field(body: Mapping[str, Any], field: str) -> Any:
    value: Any = body
    for name in field.split("."):
        value = cast("Mapping[str, Any]", value).get(name) if isinstance(value, Mapping) else None
    return value


_read_cached_system = cache(read_system_data)


@cache
def _map_bodies_to_systems() -> dict[str, str]:
    return {body["id"]: name for name in list_system_names() for body in _read_cached_system(name)["bodies"]}


@lru_cache(maxsize=16)
def _make_bodies_or_empty(name: str, julian_date: float) -> dict[str, Entity]:
    """Return the bodies of a system at an epoch; an empty map for an epoch without data."""
    system = _read_cached_system(name)
    if julian_date != system["epochJd"]:
        if "firstDay" not in system or "lastDay" not in system:
            return {}
        first, last = date.fromisoformat(system["firstDay"]), date.fromisoformat(system["lastDay"])
        try:
            convert_to_tdb_in_range(julian_date, first, last)
        except InvalidInput:
            return {}
    return make_bodies(system, julian_date)


_SHOWN: Final = 100


@dataclass(frozen=True, slots=True)
class Support:
    """A source of a value, with the check of the location it names; None for shipped data, which is not checked."""

    source: Source
    claim: ClaimStatus | None


@dataclass(frozen=True, slots=True)
class ValueStatus:
    """The status of one value, the sources that support it, and the record of the command that set it, if any."""

    status: Status
    value: Any
    supports: list[Support] = field(default_factory=list[Support])
    record: SetBy | None = None
    shipped: ShippedValue | None = None
    """The shipped value that equals a cited value."""

    @property
    def display_note(self) -> str:
        """The note beside the value; empty for a value that is cited, supported or without source."""
        if self.status == "unverified claim":
            return f"unverified claim, {describe_who_set(self.record)}" if self.record else "unverified claim"
        if self.status in ("set", "computed") and self.record:
            return describe_who_set(self.record)
        return ""


def compute_value_status(body: Mapping[str, Any], field: str, text_of: PaperTextReader | None = None) -> ValueStatus:
    """Return the status of a field of a body; `text_of` returns the texts of a shelf. Never raise."""
    value = get_field_value(body, field)
    record = _get_item_for_field_or_block(get_set_by_records(body), field)
    found = [
        source
        for source in list_sources(body)
        if _get_item_for_field_or_block(dict.fromkeys(list_cited_fields(source), source), field)
    ]
    if not found:
        status = "without source" if record is None else "computed" if "basis" in record else "set"
        return ValueStatus(status, value, [], record)
    supports = [Support(source, _check_source_support(body, source, field, value, record, text_of)) for source in found]
    statuses = {None if one.claim is None else one.claim.status for one in supports}
    if SUPPORTED in statuses:
        return ValueStatus("supported", value, supports, record)
    if None in statuses:
        shipped = find_shipped_value(body, field)
        is_cited = shipped is None or (shipped.stated and not any(one.get("computed") for one in shipped.sources))
        return ValueStatus("cited" if is_cited else "computed", value, supports, record, shipped)
    return ValueStatus("unverified claim", value, supports, record)


def describe_who_set(record: Mapping[str, Any]) -> str:
    """Return who set, cited or withdrew a value, and in which version, such as `set by Ada in version 3`."""
    by = record.get("by") or "somebody"
    version = f" in version {record['version']:g}" if isinstance(record.get("version"), (int, float)) else ""
    where = f" of universe {record['universe']}" if version and record.get("universe") else ""
    # Nothing was there before version 1.
    computed = "computed by" if record.get("version", 1) == 1 else "recomputed after a change by"
    verbs = {"withdrawn": "source withdrawn after a change by", "sources": "cited by", "basis": computed}
    verb = next((verb for name, verb in verbs.items() if name in record), "set by")
    return f"{verb} {by}{version}{where}{', imported and not verified' if record.get('imported') else ''}"


def _check_source_support(
    body: Mapping[str, Any],
    source: Source,
    field: str,
    value: Any,
    record: SetBy | None,
    text_of: PaperTextReader | None,
) -> ClaimStatus | None:
    is_claimed = record is not None and "sources" in record
    shipped = None if is_claimed else find_shipped_value(body, field)
    if shipped is not None and shipped.matches_publication(source):
        if shipped.matches_value(value):
            return None
        expected, actual = _format_value(shipped.value), _format_value(value)
        differs = f"The shipped data give {expected} from this source, and the value is {actual}."
        return ClaimStatus("unverified claim", differs)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return ClaimStatus("unverified claim", f"{field} is not a number.")
    return check_claim(source, field, value, body=body, text_of=text_of)


def _format_value(value: Any) -> str:
    return f"{value:.10g}" if isinstance(value, (int, float)) else str(value)[:_SHOWN]


def _get_item_for_field_or_block(named: Mapping[str, Any], field: str) -> Any:
    """Return the item for a field, or for the innermost block around it; None if there is none."""
    parts = field.split(".")
    for count in range(len(parts), 0, -1):
        if (found := named.get(".".join(parts[:count]))) is not None:
            return found
    return None
