"""Summarise a run, or two side by side, for a terminal: the verdict, then tables of 80 columns."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from universe.domain.names_and_numbers import format_days_and_years, format_number_or_dash, format_range, shorten_names
from universe.domain.nbody.analysis.resonances import format_resonant_angle
from uraniborg.kernel.language.messages import plural
from uraniborg.kernel.terminal.page import PLAIN_WIDTH, format_table
from uraniborg.kernel.terminal.styled_text import cut_to_width, mask_and_escape_text, wrap_text

_MOST_ROWS: Final = 30
_DIGITS: Final = ((5, 3), (4, 3), (4, 2), (3, 2), (3, 1))
"""Digits of semi-major axes and of other elements; the first pair that fits the width is used."""
_LONGEST_NAME: Final = 12
_WHOLE_TURN: Final = 180
"""The largest half range, in degrees, for which the centre of an angle is printed."""
_NOT_TRUSTED: Final = "NOT TRUSTWORTHY"
Reply = Mapping[str, Any]


def summarise_run(reply: Reply, names: Mapping[str, str]) -> list[str]:
    """Return the lines of a summary of a reply; `names` are the names of the bodies by id."""
    listed = shorten_names([names.get(key, key) for key in reply["bodies"]], _LONGEST_NAME)
    short_names = dict(zip(reply["bodies"], listed, strict=True))
    lines = [format_run_heading(reply), "", *_wrap(reply["verdict"]), ""]
    if reply["stoppedBy"]:
        lines += [
            *_wrap(
                f"A {reply['stoppedBy']} ended the run "
                f"{format_days_and_years(reply['daysAsked'] - reply['days'])} early."
            ),
            "",
        ]
    lines += [
        *_format_orbit_table(reply, short_names),
        *_format_resonance_table(reply, short_names),
        *_format_pair_table(reply, short_names),
        *_format_event_lines(reply, short_names),
    ]
    lines += ["Chaos", *_wrap(reply["chaos"]["meaning"], "  ")]
    if amd := reply.get("amd"):
        lines += _wrap(amd["meaning"], "  ")
    return [*lines, "", *_format_error_lines(reply)]


def format_run_heading(reply: Reply) -> str:
    """Return the heading with the universe, the bodies, the duration and the method."""
    about = f"{reply['id']} version {reply['version']:,}: {plural(len(reply['bodies']), 'body', 'bodies')}"
    span = f"{format_days_and_years(reply['days'])}, {reply['method']}, {plural(reply['steps'], 'step')}"
    return _cut(f"{about}, {span}")


def _cut(line: str) -> str:
    return cut_to_width(mask_and_escape_text(line), PLAIN_WIDTH)


def _wrap(text: str, indent: str = "") -> list[str]:
    return wrap_text(mask_and_escape_text(text), PLAIN_WIDTH, indent=indent, hanging=indent)


def _format_orbit_table(reply: Reply, short_names: Mapping[str, str]) -> Iterator[str]:
    if not reply["orbits"]:
        return
    tables = [_list_orbit_rows(reply, short_names, *digits) for digits in _DIGITS]
    fitting = [rows for rows in tables if max(map(len, format_table(rows, None))) <= PLAIN_WIDTH]
    yield from format_table((fitting or tables[-1:])[0], PLAIN_WIDTH, right_aligned=(4, 5))
    yield from _describe_omitted(len(reply["orbits"]), _MOST_ROWS, "body", "bodies")
    yield ""


def _list_orbit_rows(
    reply: Reply, short_names: Mapping[str, str], axis_digits: int, other_digits: int
) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [("body", "a (AU)", "e", "i (°)", "period (d)", "error (°)")]
    for key, orbit in list(reply["orbits"].items())[:_MOST_ROWS]:
        period = orbit["meanPeriod"]
        rows.append(
            (
                short_names.get(key, key),
                format_range(orbit["semiMajorAxis"], axis_digits),
                format_range(orbit["eccentricity"], other_digits),
                format_range(orbit["inclination"], other_digits),
                "-" if period is None else f"{period:.7g}",
                format_number_or_dash(reply["error"].get(key, {}).get("degrees"), 1),
            )
        )
    return rows


def _format_resonance_table(reply: Reply, short_names: Mapping[str, str]) -> Iterator[str]:
    """Yield each group of bodies near a resonance with the angle that swings least, or the first if none does."""
    best: dict[tuple[str, ...], Reply] = {}
    for one in reply["resonances"]:
        key = tuple(one["bodies"])
        if key not in best or _get_swing_sort_key(one) < _get_swing_sort_key(best[key]):
            best[key] = one
    if not best:
        return
    yield "Resonances"
    rows: list[tuple[str, ...]] = []
    for bodies, one in list(best.items())[:_MOST_ROWS]:
        between = " ".join(short_names.get(key, key) for key in bodies)
        swing = (
            ""
            if one["centre"] is None or one["halfRange"] >= _WHOLE_TURN
            else f"{one['centre']:.0f} ± {one['halfRange']:.0f}°"
        )
        rows.append(
            (
                f"  {between}",
                one.get("ratio") or "Laplace",
                one["behaviour"],
                swing,
                format_resonant_angle(one, short_names),
            )
        )
    if max(map(len, format_table(rows, None))) > PLAIN_WIDTH:
        rows = [row[:-1] for row in rows]  # the formulas are in --json
    yield from format_table(rows, PLAIN_WIDTH)
    yield from _describe_omitted(len(best), _MOST_ROWS, "resonance", "resonances")
    yield ""


def _get_swing_sort_key(resonance: Reply) -> tuple[bool, float]:
    half_range = resonance["halfRange"]
    return resonance["behaviour"] != "librates", 360.0 if half_range is None else half_range


def _format_pair_table(reply: Reply, short_names: Mapping[str, str]) -> Iterator[str]:
    """Yield the period ratios and closest approaches of neighbours, which are first in the reply."""
    neighbours: dict[str, Reply] = {}
    for one in reply["pairs"]:
        if one["inner"] in neighbours:
            break
        neighbours[one["inner"]] = one
    listed = [one for one in neighbours.values() if one["closest"] is not None]
    if not listed:
        return
    rows = [("pair", "period ratio", "closest (AU)", "Hill radii", "day")]
    for one in listed[:_MOST_ROWS]:
        closest = one["closest"]
        rows.append(
            (
                f"{short_names.get(one['inner'], one['inner'])} {short_names.get(one['outer'], one['outer'])}",
                "-" if one["periodRatio"] is None else f"{one['periodRatio']:.5f}",
                f"{closest['au']:.4g}",
                "-" if closest["hillRadii"] is None else f"{closest['hillRadii']:#.3g}".removesuffix("."),
                f"{round(closest['day'], 6):.6g}",
            )
        )
    yield from format_table(rows, PLAIN_WIDTH, right_aligned=(1, 2, 3, 4))
    yield ""


def _format_event_lines(reply: Reply, short_names: Mapping[str, str]) -> Iterator[str]:
    """Yield encounters, collisions and ejections, if there were any."""
    lines: list[str] = []
    for one in reply["encounters"][:_MOST_ROWS]:
        hill = "" if one.get("hillRadii") is None else f" ({one['hillRadii']:.3g} mutual Hill radii)"
        lines.append(f"day {one['day']:.6g}: {_join_body_names(one, short_names)} pass at {one['au']:.4g} AU{hill}")
    for one in reply["collisions"][:_MOST_ROWS]:
        merged = one.get("survivor")
        after = f"; {short_names.get(merged, merged)} continues with both masses" if merged else ""
        lines.append(f"day {one['day']:.6g}: {_join_body_names(one, short_names)} collide{after}")
    lines += [
        f"day {one['day']:.6g}: {short_names.get(one['id'], one['id'])} leaves the system" for one in reply["ejections"]
    ]
    if lines:
        yield "Encounters, collisions, ejections"
        for line in lines[:_MOST_ROWS]:
            yield _cut(f"  {line}")
        total = sum(len(reply[key]) for key in ("encounters", "collisions", "ejections"))
        yield from _describe_omitted(total, _MOST_ROWS, "event", "events")
        yield ""


def _join_body_names(event: Reply, short_names: Mapping[str, str]) -> str:
    return " and ".join(short_names.get(key, key) for key in event["bodies"])


def _format_error_lines(reply: Reply) -> Iterator[str]:
    yield "Errors" if reply["trustworthy"] else f"Errors: {_NOT_TRUSTED}"
    for name in ("arithmetic", "start", "physics"):
        described = reply["errors"][name]
        text = described if isinstance(described, str) else " ".join(described)
        label = {"arithmetic": "arithmetic", "start": "start", "physics": "missing physics"}[name]
        lines = _wrap(f"{label}: {text or 'none known.'}", "    ")
        yield "  " + lines[0].lstrip()
        yield from lines[1:]
    energy, momentum = reply["energyDrift"], reply["angularMomentumDrift"]
    if energy and momentum:
        yield f"  conserved: energy to {energy['max']:.1g}, angular momentum to {momentum['max']:.1g}"


def _describe_omitted(count: int, most: int, one: str, many: str) -> Iterator[str]:
    if count > most:
        left = count - most
        yield f"  … and {left:,} more {one if left == 1 else many}; --json has all"


def summarise_comparison(
    first: Mapping[str, Any], second: Mapping[str, Any], differences: Mapping[str, Any], names: Mapping[str, str]
) -> list[str]:
    """Return the lines of a comparison of two replies; `names` are the names of the bodies by id."""
    ids = list(names)
    short_names = dict(zip(ids, shorten_names(list(names.values())), strict=True))
    lines = [format_run_heading(first), format_run_heading(second), "", *_wrap(differences["verdict"]), ""]
    lines += [
        *_format_resonance_comparison(first, second, differences, short_names),
        *_format_orbit_comparison(differences, short_names),
    ]
    lines += [*_format_pair_comparison(differences, short_names, len(ids)), *_format_chaos_comparison(differences)]
    for label, reply in (("first", first), ("second", second)):
        if not reply["trustworthy"]:
            lines += ["", *_wrap(f"The {label} run is NOT TRUSTWORTHY: {' '.join(reply['errors']['arithmetic'])}")]
    return lines


def _format_resonance_comparison(
    first: Mapping[str, Any], second: Mapping[str, Any], found: Mapping[str, Any], short_names: Mapping[str, str]
) -> Iterator[str]:
    rows: list[tuple[str, ...]] = [("resonant angle", "first", "second")]
    known = {one["angle"]: one for one in (*second["resonances"], *first["resonances"])}
    chosen = [one for one in found["resonances"] if one["kind"] == "laplace" or one["changed"]][:_MOST_ROWS]
    for one in chosen:
        cells = zip(one["behaviour"], one["centre"], one["halfRange"], strict=True)
        rows.append(
            (format_resonant_angle(known[one["angle"]], short_names), *(_describe_behaviour(*cell) for cell in cells))
        )
    if chosen:
        yield from format_table(rows, PLAIN_WIDTH)
        if left := len(found["resonances"]) - len(chosen):
            yield f"  {left:,} more {'angle' if left == 1 else 'angles'} in --json"
        yield ""


def _describe_behaviour(behaviour: str | None, centre: float | None, half_range: float | None) -> str:
    if behaviour is None:
        return "-"
    return behaviour if centre is None or half_range is None else f"{behaviour} {centre:.0f} ± {half_range:.0f}"


def _format_orbit_comparison(found: Mapping[str, Any], short_names: Mapping[str, str]) -> Iterator[str]:
    rows: list[tuple[str, ...]] = [("body", "period (d)", "", "largest e", "")]
    for key, one in list(found["orbits"].items())[:_MOST_ROWS]:
        periods, peaks = _format_value_pair(one["meanPeriod"], ".7g"), _format_value_pair(one["eccentricityMax"], ".3g")
        rows.append((short_names.get(key, key), *periods, *peaks))
    if len(rows) > 1:
        yield from format_table(rows, PLAIN_WIDTH, right_aligned=(1, 2, 3, 4))
        yield ""


def _format_pair_comparison(found: Mapping[str, Any], short_names: Mapping[str, str], bodies: int) -> Iterator[str]:
    rows: list[tuple[str, ...]] = [("pair", "period ratio", "", "closest, mutual Hill radii", "")]
    known = [one for one in found["pairs"] if any(value is not None for value in one["closestHillRadii"])]
    for one in known[: min(_MOST_ROWS, max(1, bodies - 2))]:
        name = f"{short_names.get(one['inner'], one['inner'])} {short_names.get(one['outer'], one['outer'])}"
        rows.append(
            (name, *_format_value_pair(one["periodRatio"], ".5f"), *_format_value_pair(one["closestHillRadii"], ".3g"))
        )
    if len(rows) > 1:
        yield from format_table(rows, PLAIN_WIDTH, right_aligned=(1, 2, 3, 4))
        yield ""


def _format_chaos_comparison(found: Mapping[str, Any]) -> Iterator[str]:
    megno = " and ".join(_format_value_pair(found["chaos"]["megno"], ".2g"))
    days = " and ".join(_format_value_pair(found["chaos"]["lyapunovDays"], ".3g"))
    yield f"MEGNO {megno}; Lyapunov time in days {days} (- is none seen)"


def _format_value_pair(values: Sequence[float | None], form: str) -> list[str]:
    return ["-" if value is None else format(value, form) for value in values]
