"""Print transits, radial velocities and physical quantities as tables, or write them as CSV."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from universe.terminal.console import escape_text, make_console
from uraniborg.kernel.csv_cells import neutralize_formulas
from uraniborg.kernel.paragraphs import print_paragraph

_MAX_ROWS: Final = 12
"""The first transits of a planet that the text lists; JSON and CSV have all."""
_SHORT_STATUSES: Final = ("transits", "grazes")
"""Statuses short enough for the table; the others follow it."""
_CAUTIONS: Final = {
    "does not transit": " with the tilt that the data state; a tilt that is a little off can hide a transit",
}
"""A note on statuses that need one."""
_LIMITS: Final = {
    "recentVenus": "recent\nVenus",
    "runawayGreenhouse": "runaway\ngreenhouse",
    "maximumGreenhouse": "maximum\ngreenhouse",
    "earlyMars": "early\nMars",
}
_CLIMATE: Final = (
    ("insolation", "insolation\n(Earth = 1)", ".3g"),
    ("equilibriumTemperature, A = 0", "Teq (K)\nA = 0", ".0f"),
    ("equilibriumTemperature, A = 0.3", "Teq (K)\nA = 0.3", ".0f"),
    ("habitableZone", "habitable\nzone", ""),
)
_BULK: Final = (
    ("meanDensity", "density\n(g/cm³)", ".2f"),
    ("surfaceGravity", "gravity\n(m/s²)", ".1f"),
    ("escapeSpeed", "escape speed\n(km/s)", ".1f"),
    ("hillRadius", "Hill radius\n(AU)", ".2g"),
)
_QUANTITY_NAMES: Final = {
    "effectiveTemperature": "effective temperature",
    "equilibriumTemperature, A = 0": "equilibrium temperature",
    "equilibriumTemperature, A = 0.3": "equilibrium temperature",
    "habitableZone": "habitable zone",
    "hillRadius": "Hill radius",
}
_MIN_WIDTH: Final = 120
"""The columns of files and pipes."""


def print_transits(reply: Mapping[str, Any]) -> None:
    """Print the transits of each planet: a summary, then the first ones."""
    console = _make_wide_console()
    table = _make_table(
        "planet",
        "status",
        "transits",
        "period\n(days)",
        "TTV\n(± min)",
        "duration\n(min)",
        "impact\n(radii)",
        "error\n(s)",
    )
    for planet in reply["planets"].values():
        table.add_row(
            escape_text(planet["name"]),
            planet["status"] if planet["status"] in _SHORT_STATUSES else "none",
            f"{len(planet['transits']):,}",
            _format_number(planet["period"], ".6f"),
            _format_number(planet["ttvHalfRangeMinutes"], ".3g"),
            _format_number(planet["durationMinutes"], ".1f"),
            _format_number(planet["impactParameter"], ".2f"),
            _format_number(planet["errorSeconds"], ".1g"),
        )
    console.print(table)
    for status in dict.fromkeys(
        one["status"] for one in reply["planets"].values() if one["status"] not in _SHORT_STATUSES
    ):
        names = [escape_text(one["name"]) for one in reply["planets"].values() if one["status"] == status]
        print_paragraph(console, "", f"{', '.join(names)}: {status}{_CAUTIONS.get(status, '')}.")
    for planet in reply["planets"].values():
        _print_planet_transits(console, planet, reply["timeScale"])
    _print_notes(console, reply["notes"])


def _print_planet_transits(console: Console, planet: Mapping[str, Any], scale: str) -> None:
    shown = planet["transits"][:_MAX_ROWS]
    if not shown:
        return
    console.print(f"\n[bold]{escape_text(planet['name'])}[/bold]")
    table = _make_table("number", scale, "O-C (min)", "kind")
    for one in shown:
        table.add_row(str(one["number"]), f"{one['time']:.6f}", _format_number(one["ocMinutes"], "+.2f"), one["kind"])
    console.print(table)
    if len(planet["transits"]) > len(shown):
        console.print(f"… {len(planet['transits']) - len(shown):,} more; --csv FILE and --json have all.")


def print_velocities(reply: Mapping[str, Any]) -> None:
    """Print the range of a radial velocity and the semi-amplitude of each planet."""
    console = _make_wide_console()
    span = f"{reply['days']:,.10g} {'day' if reply['days'] == 1 else 'days'}"
    print_paragraph(
        console,
        "",
        f"{escape_text(reply['starName'])} moves from {reply['least']:.4g} to {reply['greatest']:.4g} m/s along the "
        f"line of sight in {span}; positive is away from us.",
    )
    if reply["errorMetresPerSecond"] is not None:
        console.print(f"Error of the arithmetic: at most {reply['errorMetresPerSecond']:.1g} m/s.")
    table = _make_table("body", "K\n(m/s)", "period\n(days)", "e", "i\n(degrees)")
    for planet in reply["planets"].values():
        table.add_row(
            escape_text(planet["name"]),
            f"{planet['semiAmplitude']:.4g}",
            f"{planet['period']:.6g}",
            f"{planet['eccentricity']:.3g}",
            _format_number(planet["inclination"], ".2f", "unknown"),
        )
    console.print(table)
    _print_notes(console, reply["notes"])


def print_physics(reply: Mapping[str, Any]) -> None:
    """Print stars with their habitable zones, then the climate and the bulk of all bodies, then the papers."""
    from uraniborg.kernel.bibliography.short_citations import format_short_authors  # it is slow to import

    console = _make_wide_console()
    bodies = reply["bodies"]
    table = _make_table("star", "Teff\n(K)", "luminosity\n(Sun = 1)", *(f"{name}\n(AU)" for name in _LIMITS.values()))
    for star, zone in reply["zones"].items():
        light: Mapping[str, Any] = bodies[star]["quantities"]
        limits: Mapping[str, Any] = zone["limits"] or {}
        table.add_row(
            escape_text(bodies[star]["name"]) + ("†" if zone["note"] else ""),
            _format_quantity(light["effectiveTemperature"], ".0f"),
            _format_quantity(light["luminosity"], ".3g"),
            *(_format_number(limits[name]["au"] if limits else None, ".3f", "unknown") for name in _LIMITS),
        )
    console.print(table)
    lit = {body_id: body for body_id, body in bodies.items() if "insolation" in body["quantities"]}
    for listed, columns in ((lit, _CLIMATE), (bodies, _BULK)):
        table = _make_table("body", "a\n(AU)", *(title for _, title, _ in columns))
        for body in listed.values():
            mark = "*" if "massIs" in body or "radiusIs" in body else ""
            cells = [_format_quantity(body["quantities"].get(name), format_spec) for name, _, format_spec in columns]
            table.add_row(escape_text(body["name"]) + mark, _format_number(body["semiMajorAxis"], ".4g", ""), *cells)
        console.print()
        console.print(table)
    console.print()
    if any("massIs" in body or "radiusIs" in body for body in bodies.values()):
        console.print("* The mass or the radius is an estimate or a lower limit.")
    for note in reply["notes"]:
        print_paragraph(console, "† ", escape_text(note))
    for source in reply["sources"]:
        quantities = ", ".join(dict.fromkeys(_QUANTITY_NAMES.get(one, str(one)) for one in source["fields"]))
        paper = f"{escape_text(format_short_authors(source['authors']))} {source['year']}, {source['venue']}"
        print_paragraph(console, "", f"[dim]Formula of {quantities}: {paper}[/dim]")


def render_transits_csv(reply: Mapping[str, Any]) -> bytes:
    names = ("number", "time", "ocMinutes", "impactParameter", "durationMinutes", "kind", "errorSeconds")
    rows = [
        [body_id, *(one[name] for name in names)]
        for body_id, planet in reply["planets"].items()
        for one in planet["transits"]
    ]
    return _render_csv(["body", *names], rows)


def render_velocities_csv(reply: Mapping[str, Any]) -> bytes:
    """Return all samples of a radial velocity as CSV."""
    samples = reply["samples"]
    return _render_csv(["time", "metresPerSecond"], zip(samples["times"], samples["velocities"], strict=True))


def _render_csv(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(map(neutralize_formulas, rows))
    return text.getvalue().encode()


def _print_notes(console: Console, notes: Iterable[str]) -> None:
    for note in notes:
        print_paragraph(console, "Note: ", escape_text(note))


def _format_quantity(quantity: Mapping[str, Any] | None, format_spec: str) -> str:
    if quantity is None:
        return ""
    return _format_number(quantity["value"], format_spec, "unknown")


def _format_number(value: float | str | None, format_spec: str, absent: str = "-") -> str:
    if value is None:
        return absent
    return value if isinstance(value, str) else format(value, format_spec)


def _make_table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False)
    for number, column in enumerate(columns):
        table.add_column(column, justify="left" if number == 0 else "right", no_wrap=True)
    return table


def _make_wide_console() -> Console:
    console = make_console()
    return console if console.is_terminal else make_console(max(console.width, _MIN_WIDTH))
