"""Read systems from the tables `ps` and `pscomppars` of the NASA Exoplanet Archive, as CSV or a TAP answer.

The period and the mass of the star give the size of an orbit; the published size is kept as a remark. Values that the
table does not state are marked as unknown, limits are not values, and the node is never known. Values of one row of
`pscomppars` come from several publications and need not agree.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, cast

from universe.domain.entities import Entity
from universe.domain.exchange.archive_values import ArchiveRow
from universe.domain.exchange.imported_systems import (
    BodyDraft,
    ImportedSystem,
    ImportReport,
    choose_planet_color,
    choose_star_color,
    list_examples,
    list_unknown_fields,
    make_id,
    make_state,
)
from universe.domain.exchange.tables import ParsedTable, parse_number
from universe.domain.field_types import Source
from universe.domain.systems.stated_orbit_conversion import (
    ConvertedOrbit,
    compute_mean_anomaly,
    make_sky_rotation,
    rotate_orbit_angles,
)
from universe.domain.units_and_dates import J2000, G, compute_period, compute_semi_major_axis, convert_unit
from uraniborg.kernel.json_values import JsonObject

OmegaOf = Literal["star", "planet"]
Circumbinary = Literal["refuse", "barycentre"]

_SKY: Final = make_sky_rotation(90.0, 0.0)
_PLANE: Final = (
    "Edge-on to us: the plane that holds the line of sight. We are towards +y. Nodes on the sky are not known and set "
    "to 0 for all planets."
)
_OMEGA_SHIFTS: Final = {"star": 0.0, "planet": 180.0}
_DATES: Final = (2_300_000.0, 2_600_000.0)
_MASS_IS: Final = {"Mass": "measured", "Msini": "minimum", "Msin(i)/sin(i)": "measured", "M-R relationship": "estimate"}
_PAIR: Final = "The barycentre of a pair of stars: the table has the values of one star only."
_DISAGREEMENT: Final = 0.1


@dataclass(frozen=True)
class ArchiveOptions:
    """How to read columns whose meaning the archive does not state, and what to do with circumbinary planets."""

    omega_of: OmegaOf = "star"
    circumbinary: Circumbinary = "refuse"


def import_archive_table(table: ParsedTable, options: ArchiveOptions) -> ImportReport:
    """Return the systems of a table, one for each host star. Raise ImportRefused if there is none."""
    name = "ps" if "default_flag" in table.units else "pscomppars"
    report = ImportReport(f"exoplanet-archive {name}", notes=list(table.notes))
    for number, problem in table.problems:
        report.skip(number, "", problem)
    hosts: dict[str, list[ArchiveRow]] = {}
    for row in _choose_rows(
        [ArchiveRow(number, cells, name, table.units, report) for number, cells in table.rows], report
    ):
        hosts.setdefault(row.cells["hostname"], []).append(row)
    used: set[str] = set()
    for host, rows in hosts.items():
        drafts = _make_system(host, rows, options, report, used)
        if drafts:
            report.systems.append(ImportedSystem(host, make_state(drafts), len(rows)))
    _note_missing_planets(hosts, report)
    report.note_assumptions("a plane that is edge-on to us")
    if undated := [one.name for one in report.systems if _has_assumed_epoch(one)]:
        report.note(f"The table dates no orbit of {list_examples(undated, 'systems')}: time 0 was set to J2000.")
    if report.systems and name == "pscomppars":
        report.note(
            "Values of one row of pscomppars come from several publications and need not agree: for dynamics use one "
            "row of the table ps."
        )
    return report.require_systems()


def _has_assumed_epoch(system: ImportedSystem) -> bool:
    planets = [one for one in system.state["stars"].values() if one["parentId"]]
    return all("kepler.meanAnomaly" in list_unknown_fields(cast("Entity", one["physical"])) for one in planets)


def _note_missing_planets(hosts: dict[str, list[ArchiveRow]], report: ImportReport) -> None:
    """Note systems of which the table has fewer planets than it says that are known."""
    missing: list[str] = []
    for host, rows in hosts.items():
        try:
            known = parse_number(rows[0].cells, "sy_pnum")
        except ValueError:
            continue
        if known is not None and len(rows) < known:
            missing.append(f"{host} ({len(rows)} of {known:.0f})")
    if missing:
        listed = ", ".join(missing[:3]) + (f" and {len(missing) - 3} more" if len(missing) > 3 else "")
        report.note(f"The table lacks planets of {listed}: N-body runs and transit times are without them.")


def _choose_rows(rows: Sequence[ArchiveRow], report: ImportReport) -> list[ArchiveRow]:
    """Return one row for each planet: in `ps` the default one, else the first."""
    chosen: dict[str, ArchiveRow] = {}
    for row in rows:
        cells = row.cells
        if "pl_name" not in cells:
            report.skip(row.number, row.name, "pl_name is empty")
        elif row.table == "ps" and not row.read_flag("default_flag"):
            report.skip(row.number, row.name, "default_flag is not 1: another row of this planet is the default")
        elif cells["pl_name"] in chosen:
            report.skip(row.number, row.name, f"the planet is in row {chosen[cells['pl_name']].number} already")
        else:
            cells.setdefault("hostname", cells["pl_name"].rpartition(" ")[0] or cells["pl_name"])
            chosen[cells["pl_name"]] = row
    return list(chosen.values())


def _make_system(
    host: str, rows: Sequence[ArchiveRow], options: ArchiveOptions, report: ImportReport, used: set[str]
) -> list[BodyDraft]:
    """Return the star and its planets; nothing, with the reason in the report, if there is no star or no planet."""
    rows = [row for row in rows if _is_allowed(row, options, report)]
    try:
        star = _make_star(host, rows, used) if rows else None
    except ValueError as exc:
        report.skip(rows[0].number, host, f"the star cannot be used: {exc}")
        return []
    if star is None:
        for row in rows:
            missing = f"{row.describe_missing('st_mass')}, and no planet has both pl_orbper and pl_orbsmax"
            report.skip(row.number, row.name, missing)
        return []
    used.add(star.id)
    epoch = next((date for row in rows if (date := _find_date(row)) is not None), J2000)
    planets: list[BodyDraft] = []
    for row in rows:
        try:
            planets.append(_make_planet(row, star, epoch, options, used, len(planets)))
            used.add(planets[-1].id)
        except ValueError as exc:
            report.skip(row.number, row.name, str(exc))
    if not planets:
        used.discard(star.id)
        return []
    star.physical["epochJulianDate"] = epoch
    return [star, *planets]


def _is_allowed(row: ArchiveRow, options: ArchiveOptions, report: ImportReport) -> bool:
    if not row.read_flag("cb_flag"):
        return True
    both = "pl_orbper" in row.cells and "pl_orbsmax" in row.cells
    if options.circumbinary == "barycentre" and both:
        return True
    reason = "the planet orbits two stars (cb_flag), and the table has the values of one star only"
    more = (
        "; the barycentre needs pl_orbper and pl_orbsmax"
        if options.circumbinary == "barycentre"
        else "; circumbinary=barycentre builds it about the barycentre"
    )
    report.skip(row.number, row.name, reason + more)
    return False


def _make_star(host: str, rows: Sequence[ArchiveRow], used: set[str]) -> BodyDraft | None:
    """Return the star with the values of the first row, or the barycentre of a pair; None without a mass."""
    row = rows[0]
    is_pair = row.read_flag("cb_flag")
    mass = None if is_pair else row.read_value("st_mass", "mass", (1e-3, 200.0))
    physical: JsonObject = {"referencePlane": _PLANE, "towardsObserver": [0.0, 1.0, 0.0]}
    if mass is None:
        mass = next((found for one in rows if (found := _compute_central_mass(one)) is not None), None)
        if mass is None:
            return None
        physical["massIs"] = "computed from the period and the semi-major axis of a planet"
    radius = None if is_pair else row.read_value("st_rad", "radius", (1e-3, 3_000.0))
    teff = None if is_pair else row.read_value("st_teff", "physical.teffKelvin", (200.0, 500_000.0))
    light = None if is_pair else row.read_value("st_lum", "physical.luminositySolar", (-8.0, 8.0))
    physical |= {
        **({"teffKelvin": teff} if teff is not None else {}),
        **({"luminositySolar": 10**light} if light is not None else {}),
        **(
            {"note": "The barycentre of a pair of stars: the table has the values of one star only."} if is_pair else {}
        ),
        **_read_position(row),
    }
    _add_marks(physical, row, [] if radius is not None else ["radius"])
    name = f"{host} (barycentre)" if is_pair else host
    return BodyDraft(
        make_id(name, used),
        name,
        "star",
        mass,
        radius_km=None if radius is None else convert_unit(radius, "solar_radius", "km"),
        color=choose_star_color(teff),
        physical=physical,
        sources=_take_sources(row),
        assumed={"mass": str(physical["massIs"])} if "massIs" in physical else {},
    )


def _compute_central_mass(row: ArchiveRow) -> float | None:
    period = row.read_value("pl_orbper", "kepler.period", (1e-3, 1e9))
    axis = row.read_value("pl_orbsmax", "kepler.semiMajorAxis", (1e-4, 1e5))
    _take_sources(row)
    return None if period is None or axis is None else axis**3 * (2 * math.pi / period) ** 2 / G


def _read_position(row: ArchiveRow) -> JsonObject:
    columns = {"raDegrees": ("ra", (0.0, 360.0)), "decDegrees": ("dec", (-90.0, 90.0)), "parsec": ("sy_dist", (0, 1e6))}
    found = {name: row.read_value(column, f"physical.{name}", limits) for name, (column, limits) in columns.items()}
    return {name: value for name, value in found.items() if value is not None}


def _find_date(row: ArchiveRow) -> float | None:
    for column in ("pl_tranmid", "pl_orbtper"):
        try:
            date = row.read_value(column, "kepler.meanAnomaly", _DATES)
        except ValueError:
            continue  # the row is reported when the planet is made
        finally:
            _take_sources(row)
        if date is not None:
            return date
    return None


def _make_planet(
    row: ArchiveRow, star: BodyDraft, epoch: float, options: ArchiveOptions, used: set[str], index: int
) -> BodyDraft:
    """Return a planet. Raise ValueError with the reason if the row does not state an orbit."""
    mass, mass_is = _read_mass(row)
    radius = row.read_value("pl_rade", "radius", (1e-2, 100.0))
    unit = "earth_radius"
    if radius is None:
        radius, unit = row.read_value("pl_radj", "radius", (1e-3, 10.0)), "jupiter_radius"
    orbit, derived, unknown, physical = _read_orbit(row, star.mass + (mass or 0.0), epoch, options)
    if radius is None:
        unknown.append("radius")
    if mass is None:
        unknown.append("mass")
    physical |= {
        "epochJulianDate": epoch,
        "referencePlane": _PLANE,
        "towardsObserver": [0.0, 1.0, 0.0],
        **({"massIs": mass_is} if mass_is else {}),
        **({"note": "The archive marks this planet as controversial."} if row.read_flag("pl_controv_flag") else {}),
    }
    _add_marks(physical, row, unknown)
    sources = _take_sources(row)
    assumed = {"kepler.meanAnomaly": _explain_phase(sources)}
    if orbit.plane:
        assumed["kepler.longitudeOfAscendingNode"] = "the node on the sky is not known, and was set to 0"
    return BodyDraft(
        make_id(row.name, used),
        row.name,
        "planet",
        mass or 0.0,
        star.id,
        orbit,
        derived=derived,
        radius_km=None if radius is None else convert_unit(radius, unit, "km"),
        color=choose_planet_color(index),
        physical=physical,
        sources=[source for source in sources if source.get("fields")],
        assumed=assumed,
    )


def _explain_phase(sources: Sequence[Source]) -> str:
    """Return how the mean anomaly was found. Withdraw its citation: a source states a date, not this angle."""
    for source in sources:
        fields, locations = source.get("fields") or [], source.get("locations") or {}
        if "kepler.meanAnomaly" in fields:
            fields.remove("kepler.meanAnomaly")
            cell = locations.pop("kepler.meanAnomaly")
            (_, column), (_, text) = cell.get("header") or ("", ""), cell.get("row") or ("", "")
            return f"computed from {column} = {text} ({source['title']}), the period and the shape"
    return "the phase is not known, and was set to 0"


def _read_mass(row: ArchiveRow) -> tuple[float | None, str]:
    """Return the mass in solar masses and what kind of value it is."""
    mass, unit = row.read_value("pl_bmasse", "mass", (1e-4, 30_000.0)), "earth_mass"
    if mass is None and "mass" not in row.limits:
        mass, unit = row.read_value("pl_bmassj", "mass", (1e-6, 100.0)), "jupiter_mass"
    if mass is None:
        return None, "unknown; the table has a limit only" if "mass" in row.limits else "unknown"
    kind = row.cells.get("pl_bmassprov", "")
    return convert_unit(mass, unit, "solar_mass"), _MASS_IS.get(kind, kind[:60] or "not stated by the table")


def _read_orbit(
    row: ArchiveRow, total_mass: float, epoch: float, options: ArchiveOptions
) -> tuple[ConvertedOrbit, str, list[str], JsonObject]:
    """Return the orbit, the derived one of period and axis, the unknown elements, and facts. Raise ValueError."""
    period = row.read_value("pl_orbper", "kepler.period", (1e-3, 1e9))
    eccentricity = row.read_value("pl_orbeccen", "kepler.eccentricity", (0.0, 0.9999))
    tilt = row.read_value("pl_orbincl", "kepler.inclination", (0.0, 180.0))
    omega = row.read_value("pl_orblper", "kepler.argumentOfPeriapsis", (-360.0, 720.0))
    published = _parse_axis(row)
    physical: JsonObject = {} if published is None else {"publishedSemiMajorAxisAu": published}
    if period is not None:
        derived, axis = "semiMajorAxis", compute_semi_major_axis(period, total_mass)
        if published is not None and abs(published / axis - 1) > _DISAGREEMENT:
            row.report.note(
                f"{row.name}: the published semi-major axis, {published:g} AU, does not fit the period and the mass of "
                f"the star, which give {axis:.4g} AU and are used."
            )
    elif published is not None:
        axis = row.read_value("pl_orbsmax", "kepler.semiMajorAxis", (1e-4, 1e5))
        if axis is None:
            missing = row.describe_missing("pl_orbper")
            raise ValueError(f"{missing}, and pl_orbsmax is a limit: the size of the orbit is not known")
        derived, period = "period", compute_period(axis, total_mass)
    else:
        missing = row.describe_missing("pl_orbper", "pl_orbsmax")
        raise ValueError(f"{missing}: the size of the orbit is not known")
    unknown = ["kepler.longitudeOfAscendingNode"]
    inclination, node, from_node = rotate_orbit_angles(_SKY, 90.0 if tilt is None else tilt, 0.0, 0.0)
    on_sky, periapsis = -from_node, None
    if eccentricity is None:
        unknown.append("kepler.eccentricity")
    if tilt is None:
        unknown.append("kepler.inclination")
    if omega is None:
        if eccentricity != 0:
            unknown.append("kepler.argumentOfPeriapsis")
    else:
        on_sky = omega + _OMEGA_SHIFTS[options.omega_of]
        periapsis = (from_node + on_sky) % 360
        physical["omegaOf"] = f"{options.omega_of} (assumed: the archive does not state it)"
        row.report.note(
            f"pl_orblper was read as the argument of periapsis of the {options.omega_of}; the archive does not state "
            "whose it is, and a wrong choice turns the orbit by 180 degrees."
        )
    anomaly = _read_mean_anomaly(row, epoch, period, on_sky, eccentricity or 0.0)
    if anomaly is None:
        unknown.append("kepler.meanAnomaly")
    plane = None if tilt is None else (inclination, node)
    return ConvertedOrbit(axis, eccentricity, period, anomaly or 0.0, plane, periapsis), derived, unknown, physical


def _parse_axis(row: ArchiveRow) -> float | None:
    """Return the published semi-major axis in AU, without citing it. Raise ValueError."""
    axis = parse_number(row.cells, "pl_orbsmax")
    if axis is not None and not 1e-4 <= axis <= 1e5:
        raise ValueError(f"pl_orbsmax is {axis:g} AU: the unit may be wrong")
    return axis


def _read_mean_anomaly(
    row: ArchiveRow, epoch: float, period: float, on_sky: float, eccentricity: float
) -> float | None:
    transit = row.read_value("pl_tranmid", "kepler.meanAnomaly", _DATES)
    if transit is not None:
        return (compute_mean_anomaly(90 - on_sky, eccentricity) + 360 * (epoch - transit) / period) % 360
    periapsis = row.read_value("pl_orbtper", "kepler.meanAnomaly", _DATES)
    return None if periapsis is None else 360 * (epoch - periapsis) / period % 360


def _add_marks(physical: JsonObject, row: ArchiveRow, unknown: list[str]) -> None:
    """Add unknown fields, errors and limits in the units of the table."""
    marks: JsonObject = {
        "unknown": [*unknown],
        "uncertainties": {name: [*errors] for name, errors in row.uncertainties.items()},
        "limits": {**row.limits},
    }
    physical |= {name: value for name, value in marks.items() if value}
    row.uncertainties.clear()
    row.limits.clear()


def _take_sources(row: ArchiveRow) -> list[Source]:
    """Return the sources of the values read since the last call."""
    found = list(row.sources.values())
    row.sources.clear()
    return found
