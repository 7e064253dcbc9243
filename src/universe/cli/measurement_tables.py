"""Print measurements and jobs: transits, radial velocities and physical quantities as tables or CSV, jobs, authors."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from uraniborg.kernel.actors import describe_actor, read_actor
from uraniborg.kernel.boundary import neutralize_formulas
from uraniborg.kernel.terminal.page import Page
from uraniborg.kernel.terminal.styled_text import BOLD, DIM, Piece, StyledText

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


def print_transits(reply: Mapping[str, Any]) -> None:
    """Print the transits of each planet: a summary, then the first ones."""
    page = Page()
    rows = [
        (
            planet["name"],
            planet["status"] if planet["status"] in _SHORT_STATUSES else "none",
            f"{len(planet['transits']):,}",
            _format_number(planet["period"], ".6f"),
            _format_number(planet["ttvHalfRangeMinutes"], ".3g"),
            _format_number(planet["durationMinutes"], ".1f"),
            _format_number(planet["impactParameter"], ".2f"),
            _format_number(planet["errorSeconds"], ".1g"),
        )
        for planet in reply["planets"].values()
    ]
    units = ("period\n(days)", "TTV\n(± min)", "duration\n(min)", "impact\n(radii)", "error\n(s)")
    _write_table(page, ("planet", "status", "transits", *units), rows)
    for status in dict.fromkeys(
        one["status"] for one in reply["planets"].values() if one["status"] not in _SHORT_STATUSES
    ):
        names = [one["name"] for one in reply["planets"].values() if one["status"] == status]
        page.write_paragraph(f"{', '.join(names)}: {status}{_CAUTIONS.get(status, '')}.")
    for planet in reply["planets"].values():
        _print_planet_transits(page, planet, reply["timeScale"])
    _print_notes(page, reply["notes"])


def _print_planet_transits(page: Page, planet: Mapping[str, Any], scale: str) -> None:
    shown = planet["transits"][:_MAX_ROWS]
    if not shown:
        return
    page.write_line()
    page.write_line(StyledText(BOLD, planet["name"]))
    rows = [
        (str(one["number"]), f"{one['time']:.6f}", _format_number(one["ocMinutes"], "+.2f"), one["kind"])
        for one in shown
    ]
    _write_table(page, ("number", scale, "O-C (min)", "kind"), rows)
    if len(planet["transits"]) > len(shown):
        page.write_line(f"… {len(planet['transits']) - len(shown):,} more; --csv FILE and --json have all.")


def print_velocities(reply: Mapping[str, Any]) -> None:
    """Print the range of a radial velocity and the semi-amplitude of each planet."""
    page = Page()
    span = f"{reply['days']:,.10g} {'day' if reply['days'] == 1 else 'days'}"
    page.write_paragraph(
        f"{reply['starName']} moves from {reply['least']:.4g} to {reply['greatest']:.4g} m/s along the "
        f"line of sight in {span}; positive is away from us."
    )
    if reply["errorMetresPerSecond"] is not None:
        page.write_line(f"Error of the arithmetic: at most {reply['errorMetresPerSecond']:.1g} m/s.")
    rows = [
        (
            planet["name"],
            f"{planet['semiAmplitude']:.4g}",
            f"{planet['period']:.6g}",
            f"{planet['eccentricity']:.3g}",
            _format_number(planet["inclination"], ".2f", "unknown"),
        )
        for planet in reply["planets"].values()
    ]
    _write_table(page, ("body", "K\n(m/s)", "period\n(days)", "e", "i\n(degrees)"), rows)
    _print_notes(page, reply["notes"])


def print_physics(reply: Mapping[str, Any]) -> None:
    """Print stars with their habitable zones, then the climate and the bulk of all bodies, then the papers."""
    from uraniborg.kernel.bibliography.names import format_short_authors  # it is slow to import

    page = Page()
    bodies = reply["bodies"]
    rows: list[list[Piece]] = []
    for star, zone in reply["zones"].items():
        light: Mapping[str, Any] = bodies[star]["quantities"]
        limits: Mapping[str, Any] = zone["limits"] or {}
        rows.append(
            [
                bodies[star]["name"] + ("†" if zone["note"] else ""),
                _format_quantity(light["effectiveTemperature"], ".0f"),
                _format_quantity(light["luminosity"], ".3g"),
                *(_format_number(limits[name]["au"] if limits else None, ".3f", "unknown") for name in _LIMITS),
            ]
        )
    limit_headings = (f"{name}\n(AU)" for name in _LIMITS.values())
    _write_table(page, ("star", "Teff\n(K)", "luminosity\n(Sun = 1)", *limit_headings), rows)
    lit = {body_id: body for body_id, body in bodies.items() if "insolation" in body["quantities"]}
    for listed, columns in ((lit, _CLIMATE), (bodies, _BULK)):
        rows = []
        for body in listed.values():
            mark = "*" if "massIs" in body or "radiusIs" in body else ""
            cells = [_format_quantity(body["quantities"].get(name), format_spec) for name, _, format_spec in columns]
            rows.append([body["name"] + mark, _format_number(body["semiMajorAxis"], ".4g", ""), *cells])
        page.write_line()
        _write_table(page, ("body", "a\n(AU)", *(title for _, title, _ in columns)), rows)
    page.write_line()
    if any("massIs" in body or "radiusIs" in body for body in bodies.values()):
        page.write_line("* The mass or the radius is an estimate or a lower limit.")
    for note in reply["notes"]:
        page.write_paragraph("† ", note)
    for source in reply["sources"]:
        quantities = ", ".join(dict.fromkeys(_QUANTITY_NAMES.get(one, str(one)) for one in source["fields"]))
        paper = f"{format_short_authors(source['authors'])} {source['year']}, {source['venue']}"
        page.write_paragraph(StyledText(DIM, f"Formula of {quantities}: {paper}"))


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


def _print_notes(page: Page, notes: Iterable[str]) -> None:
    for note in notes:
        page.write_paragraph("Note: ", note)


def _format_quantity(quantity: Mapping[str, Any] | None, format_spec: str) -> str:
    if quantity is None:
        return ""
    return _format_number(quantity["value"], format_spec, "unknown")


def _format_number(value: float | str | None, format_spec: str, absent: str = "-") -> str:
    if value is None:
        return absent
    return value if isinstance(value, str) else format(value, format_spec)


def _write_table(page: Page, headings: Sequence[str], rows: Iterable[Sequence[Piece]]) -> None:
    """Write a table of names with numbers."""
    page.write_table(rows, headings=headings, right_aligned=range(1, len(headings)), indent=0)


_ID_CHARS: Final = 12
"""The first characters of an id, which commands accept."""


def print_jobs(found: Sequence[Mapping[str, Any]]) -> None:
    """Print a table of jobs."""
    page = Page()
    if not found:
        page.write_line("There are no jobs. Servers start them: POST /universes/{id}/jobs")
        return
    rows = [
        (
            job["id"][:_ID_CHARS],
            f"{job['universeId']}@{job['version']}",
            job["kind"],
            format_job_state(job),
            format_author(job),
            format_job_outcome(job),
        )
        for job in found
    ]
    headings = ("job", "universe", "kind", "state", "started by", "outcome")
    page.write_table(rows, headings=headings, indent=0, last_cell="wrapped", inner_cells="wrapped")


def print_job(job: Mapping[str, Any]) -> None:
    """Print one job: what was computed, how it went, and the verdict or the error."""
    page = Page()
    days = job["options"].get("days", 0.0)
    cancelled = f"; cancelled by {format_actor(job['cancelledBy'])}" if job["cancelledBy"] else ""
    page.write_line(StyledText(BOLD, job["id"]), f": {job['kind']}, {format_job_state(job)}")
    page.write_paragraph(
        f"Universe {job['universeId']} at version {job['version']:,}, {days:,.10g} days; "
        f"started by {format_author(job)} at {job['createdAt']}{cancelled}."
    )
    summary: Mapping[str, Any] = job["summary"] or {}
    for text in (format_job_outcome(job), str(summary.get("verdict") or "")):
        if text:
            page.write_paragraph(text)


def format_job_state(job: Mapping[str, Any]) -> str:
    """Return the state of a job, with the percentage done while it is computed."""
    return f"running, {100 * job['progress']:.0f} %" if job["state"] == "running" else str(job["state"])


def format_job_outcome(job: Mapping[str, Any]) -> str:
    """Return the headline of a result or the message of an error; an empty text before the end."""
    if job["error"]:
        return str(job["error"]["message"])
    summary: Mapping[str, Any] = job["summary"] or {}
    return str(summary.get("headline", ""))


_CHECKS: Final = {
    "sign_in": "by sign-in",
    "token": "by token",
    "credential": "by credential",
    "terminal": "by terminal",
    "dialog": "by dialog",
    "account": "by account",
    "none": "not authenticated",
}


def format_author(described: Mapping[str, Any]) -> str:
    """Return the author in a reply: `claude (agent), by credential`.

    The author of a version that stored no actor is followed by "unknown".
    """
    if described.get("actor") is None and (author := described.get("author")):
        return f"{author}, {describe_actor(None)}"
    return format_actor(described.get("actor"))


def format_actor(value: Mapping[str, Any] | None) -> str:
    """Return an actor of a reply."""
    actor = read_actor(value)
    text = describe_actor(actor)
    return f"{text}, {_CHECKS[actor.authenticated]}" if actor else text
