"""Measurements for people and spreadsheets: tables on stdout and CSV."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from universe.paragraphs import print_paragraph
from uraniborg.kernel.logging import printable

_MOST_ROWS: Final = 12
"""Transits of a planet that the text lists from the first on; JSON and CSV have all."""
_SEEN: Final = ("transits", "grazes")
"""Statuses short enough for the table; the others follow it."""
_CAUTIONS: Final = {
    "does not transit": " with the tilt that the data state; a tilt that is a little off can hide a transit",
}
"""What a status depends on, where that is not obvious."""
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
_WORDS: Final = {
    "effectiveTemperature": "effective temperature",
    "equilibriumTemperature, A = 0": "equilibrium temperature",
    "equilibriumTemperature, A = 0.3": "equilibrium temperature",
    "habitableZone": "habitable zone",
    "hillRadius": "Hill radius",
}
_NARROWEST: Final = 120
"""Columns of a page that is not a terminal."""


def print_transits(reply: Mapping[str, Any]) -> None:
    """Print what each planet does, then its first transits."""
    out = _console()
    table = _table(
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
            _safe(planet["name"]),
            planet["status"] if planet["status"] in _SEEN else "none",
            f"{len(planet['transits']):,}",
            _text(planet["period"], ".6f"),
            _text(planet["ttvHalfRangeMinutes"], ".3g"),
            _text(planet["durationMinutes"], ".1f"),
            _text(planet["impactParameter"], ".2f"),
            _text(planet["errorSeconds"], ".1g"),
        )
    out.print(table)
    for status in dict.fromkeys(one["status"] for one in reply["planets"].values() if one["status"] not in _SEEN):
        names = [_safe(one["name"]) for one in reply["planets"].values() if one["status"] == status]
        print_paragraph(out, "", f"{', '.join(names)}: {status}{_CAUTIONS.get(status, '')}.")
    for planet in reply["planets"].values():
        _print_planet(out, planet, reply["timeScale"])
    _print_notes(out, reply["notes"])


def _print_planet(out: Console, planet: Mapping[str, Any], scale: str) -> None:
    shown = planet["transits"][:_MOST_ROWS]
    if not shown:
        return
    out.print(f"\n[bold]{_safe(planet['name'])}[/bold]")
    table = _table("number", scale, "O-C (min)", "kind")
    for one in shown:
        table.add_row(str(one["number"]), f"{one['time']:.6f}", _text(one["ocMinutes"], "+.2f"), one["kind"])
    out.print(table)
    if len(planet["transits"]) > len(shown):
        out.print(f"… {len(planet['transits']) - len(shown):,} more; --csv FILE and --json have all.")


def print_velocities(reply: Mapping[str, Any]) -> None:
    """Print the range of the velocity and the share of each planet."""
    out = _console()
    span = f"{reply['days']:,.10g} {'day' if reply['days'] == 1 else 'days'}"
    print_paragraph(
        out,
        "",
        f"{_safe(reply['starName'])} moves from {reply['least']:.4g} to {reply['greatest']:.4g} m/s along the line of "
        f"sight within {span}; positive is away from us.",
    )
    if reply["errorMetresPerSecond"] is not None:
        out.print(f"Error of the arithmetic: at most {reply['errorMetresPerSecond']:.1g} m/s.")
    table = _table("body", "K\n(m/s)", "period\n(days)", "e", "i\n(degrees)")
    for planet in reply["planets"].values():
        table.add_row(
            _safe(planet["name"]),
            f"{planet['semiAmplitude']:.4g}",
            f"{planet['period']:.6g}",
            f"{planet['eccentricity']:.3g}",
            _text(planet["inclination"], ".2f", "unknown"),
        )
    out.print(table)
    _print_notes(out, reply["notes"])


def print_physics(reply: Mapping[str, Any]) -> None:
    """Print stars with their habitable zones, then the climate and the bulk of all bodies, then the papers."""
    out = _console()
    bodies = reply["bodies"]
    table = _table("star", "Teff\n(K)", "luminosity\n(Sun = 1)", *(f"{name}\n(AU)" for name in _LIMITS.values()))
    for star, zone in reply["zones"].items():
        light: Mapping[str, Any] = bodies[star]["quantities"]
        limits: Mapping[str, Any] = zone["limits"] or {}
        table.add_row(
            _safe(bodies[star]["name"]) + ("†" if zone["note"] else ""),
            _value(light["effectiveTemperature"], ".0f"),
            _value(light["luminosity"], ".3g"),
            *(_text(limits[name]["au"] if limits else None, ".3f", "unknown") for name in _LIMITS),
        )
    out.print(table)
    lit = {body_id: body for body_id, body in bodies.items() if "insolation" in body["quantities"]}
    for listed, columns in ((lit, _CLIMATE), (bodies, _BULK)):
        table = _table("body", "a\n(AU)", *(title for _, title, _ in columns))
        for body in listed.values():
            mark = "*" if "massIs" in body or "radiusIs" in body else ""
            cells = [_value(body["quantities"].get(name), form) for name, _, form in columns]
            table.add_row(_safe(body["name"]) + mark, _text(body["semiMajorAxis"], ".4g", ""), *cells)
        out.print()
        out.print(table)
    out.print()
    if any("massIs" in body or "radiusIs" in body for body in bodies.values()):
        out.print("* The mass or the radius is an estimate or a lower limit.")
    for note in reply["notes"]:
        print_paragraph(out, "† ", _safe(note))
    for source in reply["sources"]:
        quantities = ", ".join(dict.fromkeys(_WORDS.get(one, str(one)) for one in source["fields"]))
        paper = f"{_safe(_authors(source))} {source['year']}, {source['venue']}"
        print_paragraph(out, "", f"[dim]Formula of {quantities}: {paper}[/dim]")


def _authors(source: Mapping[str, Any]) -> str:
    families = [str(author).split(",")[0] for author in source["authors"]]
    return " and ".join(families) if len(families) <= 2 else f"{families[0]} et al."


def transits_csv(reply: Mapping[str, Any]) -> bytes:
    """Return all transits, one in a line."""
    names = ("number", "time", "ocMinutes", "impactParameter", "durationMinutes", "kind", "errorSeconds")
    rows = [
        [body_id, *(one[name] for name in names)]
        for body_id, planet in reply["planets"].items()
        for one in planet["transits"]
    ]
    return _csv(["body", *names], rows)


def velocities_csv(reply: Mapping[str, Any]) -> bytes:
    """Return all samples, one in a line."""
    samples = reply["samples"]
    return _csv(["time", "metresPerSecond"], zip(samples["times"], samples["velocities"], strict=True))


def _csv(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue().encode()


def _print_notes(out: Console, notes: Iterable[str]) -> None:
    for note in notes:
        print_paragraph(out, "Note: ", _safe(note))


def _value(quantity: Mapping[str, Any] | None, form: str) -> str:
    if quantity is None:
        return ""
    return _text(quantity["value"], form, "unknown")


def _text(value: float | str | None, form: str, absent: str = "-") -> str:
    if value is None:
        return absent
    return value if isinstance(value, str) else format(value, form)


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False)
    for number, column in enumerate(columns):
        table.add_column(column, justify="left" if number == 0 else "right", no_wrap=True)
    return table


def _safe(text: str) -> str:
    return escape(printable(text, keep=""))


def _console() -> Console:
    out = Console(highlight=False, soft_wrap=True)
    # A file or a pipe has no width that a table would have to fit into.
    return out if out.is_terminal else Console(highlight=False, soft_wrap=True, width=max(out.width, _NARROWEST))
