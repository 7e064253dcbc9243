"""Trace a value to its publication and location, its conversion and inputs, and the command that set it."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple, cast

from universe.claims import PaperTextReader
from universe.domain.names_and_numbers import find_body_ids_by_name, find_nearest_entity_ids
from universe.domain.orbits.jacobi_hierarchy import list_orbited_bodies
from universe.domain.provenance.bibliography import (
    BodyOrigins,
    Chain,
    Publication,
    SettingCommand,
    ValueBrief,
    ValueOrigin,
    ValueSource,
)
from universe.domain.provenance.citations import list_sources
from universe.domain.provenance.derived_fields import get_field_value, is_same_value
from universe.domain.provenance.value_status import ShippedValue, Support, ValueStatus, compute_value_status
from universe.domain.state import get_derived_element_name
from universe.domain.units_and_dates import SOLAR_MASS_IN_KG, get_field_unit, has_astronomical_body
from universe.errors import MalformedRequest, StarNotFound
from universe.service.reply_encoding import describe_log_entry
from universe.service.universes import UniverseService
from universe.store.interface import StoredEntry
from universe.store.replica import Replica, apply_entries_from_store, read_entry_pages
from uraniborg.kernel.language.messages import find_nearest_names, format_did_you_mean

_PLANE: Final = ("kepler.inclination", "kepler.longitudeOfAscendingNode", "kepler.argumentOfPeriapsis")
_AXIS: Final = ("kepler.semiMajorAxis",)
_SAME: Final = "the same number, for programs that do not read the kepler block"
_RULES: Final[dict[str, tuple[tuple[str, ...], str]]] = {
    "physical.massKg": (("mass",), f"times the mass of the Sun, {SOLAR_MASS_IN_KG:.6g} kg"),
    "physical.radiusKm": (("radius",), "in km, without the magnification of the drawing"),
    "orbitalDistance": (_AXIS, _SAME),
    "semiMajorAxis": (_AXIS, _SAME),
    "eccentricity": (("kepler.eccentricity",), _SAME),
    "orbitalSpeed": (("kepler.period",), "360 degrees divided by the period"),
    "orbitalPhase": (("kepler.meanAnomaly", "kepler.eccentricity"), "the eccentric anomaly, by Kepler's equation"),
    **{f"orbitRot{axis}": (_PLANE, "the orientation of the orbit as turns about the axes") for axis in "XYZ"},
    **{
        f"orbitOffset{axis}": ((*_AXIS, "kepler.eccentricity", *_PLANE), "from the focus of the orbit to its centre")
        for axis in "XYZ"
    },
}
"""The inputs and the rule of each computed field."""
_FACTS: Final = ("id", "title", "authors", "year", "venue", "doi", "arxiv", "url", "computed")
_UNCITED: Final = ("id", "children", "sources", "setBy")
_CONVERTED: Final = ("mass", "radius", "physical.radiusKm", "kepler.semiMajorAxis")
"""Fields that shipped data may give in other units."""
_MAX_CHARS: Final = 100
_MAX_LISTED: Final = 10
_MAX_DEPTH: Final = 5


class ValueInputs(NamedTuple):
    """The rule of a computed value, the fields of its body and the bodies whose masses it uses."""

    rule: str
    fields: tuple[str, ...]
    masses: tuple[str, ...] = ()


def find_value_inputs(stars: Mapping[str, Mapping[str, Any]], key: str, field: str) -> ValueInputs | None:
    """Return the inputs of a computed field of a body; None for a field that is not computed."""
    body = stars[key]
    if field == f"kepler.{get_derived_element_name(body)}":
        basis = "kepler.semiMajorAxis"
        if field == basis:
            periods = ("kepler.osculatingPeriod", "kepler.period")
            basis = next((one for one in periods if get_field_value(body, one) is not None), periods[1])
        return ValueInputs("by Kepler's third law", (basis,), tuple(list_orbited_bodies(stars, key)))
    fields, rule = _RULES.get(field, ((), ""))
    present = tuple(one for one in fields if get_field_value(body, one) is not None)
    return ValueInputs(rule, present) if present else None


async def trace_value_origin(
    service: UniverseService,
    universe_id: str,
    body: str,
    field: str,
    *,
    version: int | None = None,
    text_of: PaperTextReader | None = None,
) -> ValueOrigin:
    """Return the chain behind one value of a body: its unit, status, sources, inputs and the command that set it.

    `body` is an id or a name. Raise UniverseNotFound, VersionNotFound, StarNotFound or MalformedRequest.
    """
    view = await service.view(universe_id, version)
    stars = view.replica.mirror.to_plain()["stars"]
    key = find_body_id(stars, body)
    check_field_has_value(stars[key], field)
    chain = await _trace_field(service, universe_id, stars, key, field, view.version, text_of)
    return {
        "universe": universe_id,
        "version": view.version,
        "body": key,
        "name": str(stars[key]["name"]),
        **chain,
    }


def describe_sourced_values(
    stars: Mapping[str, Mapping[str, Any]], body: str, text_of: PaperTextReader | None = None
) -> BodyOrigins:
    """Return each value of a body with its unit, status, mark and source ids, and the sources.

    Raise as `find_body_id`.
    """
    key = find_body_id(stars, body)
    briefs = {
        field: _describe_value_of_body(stars, key, field, text_of) for field in list_fields_with_values(stars[key])
    }
    fields = {field: brief for field, brief in briefs.items() if brief["status"] != "without source"}
    sources = [_describe_publication(source) for source in list_sources(stars[key])]
    return {"body": key, "name": stars[key]["name"], "fields": fields, "sources": sources}


async def _trace_field(
    service: UniverseService,
    universe_id: str,
    stars: Mapping[str, Mapping[str, Any]],
    key: str,
    field: str,
    version: int,
    text_of: PaperTextReader | None,
    depth: int = _MAX_DEPTH,
) -> Chain:
    status = compute_value_status(stars[key], field, text_of)
    unit = get_field_unit(field, astronomical=has_astronomical_body(stars.values()))
    record = status.record
    chain: Chain = {
        "field": field,
        "value": status.value,
        "unit": unit,
        "status": status.status,
        "mark": status.display_note,
        "sources": [_describe_source(one, field, status, unit) for one in status.supports],
        "command": await _describe_setting_command(service, universe_id, key, field, version, record),
    }
    if record is not None and "withdrawn" in record:
        chain["withdrawn"] = record["withdrawn"]
    is_computed = status.status == "computed" or (status.shipped is not None and not status.shipped.stated)
    inputs = find_value_inputs(stars, key, field) if is_computed and depth else None
    if inputs is not None:
        chain["computed"] = {
            "how": inputs.rule,
            "from": [
                await _trace_field(service, universe_id, stars, key, one, version, text_of, depth - 1)
                for one in inputs.fields
            ],
            "masses": {one: _describe_value_of_body(stars, one, "mass", text_of) for one in inputs.masses},
        }
    return chain


def _describe_value_of_body(
    stars: Mapping[str, Mapping[str, Any]], key: str, field: str, text_of: PaperTextReader | None
) -> ValueBrief:
    status = compute_value_status(stars[key], field, text_of)
    return {
        "value": status.value,
        "unit": get_field_unit(field, astronomical=has_astronomical_body(stars.values())),
        "status": status.status,
        "mark": status.display_note,
        "sources": [one.source["id"] for one in status.supports],
    }


def find_body_id(stars: Mapping[str, Mapping[str, Any]], wanted: str) -> str:
    """Return the id of the body with this id or name. Raise StarNotFound, or MalformedRequest for several."""
    named = find_body_ids_by_name(wanted, stars)
    if len(named) > 1:
        raise MalformedRequest(
            f"{len(named):,} bodies are called '{wanted[:_MAX_CHARS]}'.",
            hint=f"Give an id: {', '.join(named[:_MAX_LISTED])}.",
            argument="body",
            allowed=named[:_MAX_LISTED],
        )
    if named:
        return named[0]
    near = find_nearest_entity_ids(wanted, stars)
    known = list(stars)[:_MAX_LISTED]
    hint = format_did_you_mean(near) or (
        f"The bodies are {', '.join(known)}." if known else "The universe has no bodies."
    )
    raise StarNotFound(f"There is no body '{wanted[:_MAX_CHARS]}'.", hint=hint.strip(), nearest=near, known=known)


def check_field_has_value(body: Mapping[str, Any], field: str) -> None:
    """Raise MalformedRequest, with the nearest names, if the body does not have a field, or if it is a block."""
    value = get_field_value(body, field) if field else None
    known = list(list_fields_with_values(body))
    if isinstance(value, Mapping):
        inner = [name for name in known if name.startswith(f"{field}.")]
        raise MalformedRequest(
            f"'{field[:_MAX_CHARS]}' has several values, each with its own origin.",
            hint=f"Ask for one of {', '.join(inner)}.",
            argument="field",
            allowed=inner,
        )
    if value is not None:
        return
    inside = [name for name in known if name.rpartition(".")[2].casefold() == field.casefold()]
    near = inside or find_nearest_names(field, known)
    raise MalformedRequest(
        f"The body does not have the field '{field[:_MAX_CHARS]}'.",
        hint=format_did_you_mean(near) or f"It has {', '.join(known[:20])}.",
        argument="field",
        nearest=near,
        allowed=known,
    )


def list_fields_with_values(body: Mapping[str, Any]) -> Iterator[str]:
    """Yield the fields of a body that have values; fields inside blocks as `block.field`."""
    for name, value in body.items():
        if name in _UNCITED or value is None:
            continue
        if isinstance(value, Mapping):
            inner = cast("Mapping[str, Any]", value)
            yield from (f"{name}.{one}" for one, item in inner.items() if item is not None)
        else:
            yield name


def _describe_source(support: Support, field: str, status: ValueStatus, unit: str) -> ValueSource:
    source, claim = support.source, support.claim
    locations = source.get("locations")
    location = cast("Mapping[str, Any]", locations).get(field) if isinstance(locations, dict) else None
    shipped = status.shipped if claim is None else None
    reply: ValueSource = {
        **_describe_publication(source),
        "location": location,
        "conversion": _describe_conversion(support, status.value, unit)
        if shipped is None
        else _describe_shipped_conversion(shipped, field, unit),
        "status": "cited" if claim is None else claim.status,
        "reason": None if claim is None else claim.reason,
        "isChecked": claim is not None and claim.checked,
    }
    if shipped is not None:
        reply["dataFile"] = shipped.file
        reply["note"] = shipped.note or None
    return reply


def _describe_publication(source: Mapping[str, Any]) -> Publication:
    """Return the facts about a publication, and its authors and year in short."""
    from uraniborg.kernel.bibliography.names import format_short_citation  # it is slow to import

    facts = {name: source[name] for name in _FACTS if source.get(name) is not None}
    authors, year = facts.get("authors"), facts.get("year")
    names = [name for name in cast("list[Any]", authors) if isinstance(name, str)] if isinstance(authors, list) else []
    cited = format_short_citation(names, int(year) if isinstance(year, (int, float)) else None)
    return cast("Publication", {**facts, "shortCitation": cited})


def _describe_conversion(support: Support, value: Any, unit: str) -> str | None:
    """Return the conversion from the number in the paper to the value; None if it is not known."""
    claim = support.claim
    if claim is None or not claim.as_written or not claim.unit:
        return None
    from universe.claims.quantities import WrittenUnit

    return f"{WrittenUnit(claim.unit).format_number(claim.as_written)} = {value:.6g} {unit}".rstrip()


def _describe_shipped_conversion(shipped: ShippedValue, field: str, unit: str) -> str | None:
    """Return the conversion from the numbers in the shipped data to the value; None for a computed value."""
    if not shipped.stated or any(one.get("computed") for one in shipped.sources):
        return None
    stated = ", ".join(shipped.stated)
    if isinstance(shipped.value, list):
        return "none: as stated"
    if str(shipped.value) in (stated, stated.split(" ")[0]):
        return f"{stated}, as stated"
    if shipped.divisor:
        stated = f"{stated} / {shipped.divisor}"
    drawn = f", drawn {shipped.magnification:g} times as large" if field == "radius" else ""
    verb = "give" if len(shipped.stated) > 1 else "=" if field in _CONVERTED else "gives"
    return f"{stated}{drawn} {verb} {shipped.value:.10g} {unit}".rstrip()


async def _describe_setting_command(
    service: UniverseService, universe_id: str, key: str, field: str, version: int, record: Mapping[str, Any] | None
) -> SettingCommand | None:
    """Return a summary of the log entry that set a value, from the record in the body or from the log."""
    if record is not None:
        named = {name: record[name] for name in ("version", "universe", "reason", "imported") if name in record}
        facts = cast("SettingCommand", {**named, "author": record.get("by")})
        at = record.get("version")
        if not record.keys() & {"universe", "imported"} and isinstance(at, int):
            entries = await service.read_history(universe_id, after=at - 1, limit=1)
            return {**facts, **_summarize_entry(entries[0], universe_id)} if entries else facts
        return facts
    entry = await _find_entry_that_set(service, universe_id, key, field, version)
    return None if entry is None else _summarize_entry(entry, universe_id)


async def _find_entry_that_set(
    service: UniverseService, universe_id: str, key: str, field: str, version: int
) -> StoredEntry | None:
    replica = Replica(universe_id)
    setters: list[tuple[int, StoredEntry | None]] = [(0, None)]
    async for entries in read_entry_pages(service.store, universe_id, upto=version):
        for entry in entries:
            before = get_field_value(replica.state.stars.get(key) or {}, field)
            await apply_entries_from_store(service.store, replica, [entry])
            if is_same_value(before, get_field_value(replica.state.stars.get(key) or {}, field)):
                continue
            setters.append((entry.version, _resolve_restore(entry, setters)))
    return setters[-1][1]


def _resolve_restore(entry: StoredEntry, setters: list[tuple[int, StoredEntry | None]]) -> StoredEntry | None:
    """Return the entry, or for a restore the entry that had set the value in the restored version."""
    import orjson

    if entry.is_restore:
        (event,) = orjson.loads(entry.events)
        if (back := event.get("toVersion")) is not None:
            return next(setter for at, setter in reversed(setters) if at <= back)
    return entry


def _summarize_entry(entry: StoredEntry, universe_id: str) -> SettingCommand:
    facts = describe_log_entry(entry, universe_id)
    command = facts.get("command")
    events = facts.get("events")
    did = command["type"] if command else events[0]["reason"] if events else "damaged"
    summary: SettingCommand = {
        "version": entry.version,
        "author": entry.author,
        "actor": facts["actor"],
        "at": facts["at"],
        "type": str(did),
    }
    if command and command.get("reason"):
        summary["reason"] = command["reason"]
    return summary
