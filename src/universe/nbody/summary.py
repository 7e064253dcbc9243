"""A run in words for a terminal: the verdict first, then tables that fit into 80 columns."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from universe.nbody.body_names import short_names
from uraniborg.kernel.logging import printable

WIDTH: Final = 80
_MOST_ROWS: Final = 30
_LONGEST_NAME: Final = 12
_NOT_TRUSTED: Final = "NOT TRUSTWORTHY"
Reply = Mapping[str, Any]


def summarise(reply: Reply, names: Mapping[str, str]) -> list[str]:
    """Return the lines of a summary of a reply; `names` are the names of the bodies by id."""
    listed = short_names([names.get(key, key) for key in reply["bodies"]], _LONGEST_NAME)
    short = dict(zip(reply["bodies"], listed, strict=True))
    lines = [heading(reply), "", *wrap(reply["verdict"]), ""]
    if reply["stoppedBy"]:
        lines += [
            *wrap(f"A {reply['stoppedBy']} ended the run {span_text(reply['daysAsked'] - reply['days'])} early."),
            "",
        ]
    lines += [*_bodies(reply, short), *_resonances(reply, short), *_pairs(reply, short), *_events(reply, short)]
    lines += ["Chaos", *wrap(reply["chaos"]["meaning"], "  ")]
    if amd := reply.get("amd"):
        lines += wrap(amd["meaning"], "  ")
    return [*lines, "", *_errors(reply)]


def heading(reply: Reply) -> str:
    """Return the line that says which run this is."""
    count = len(reply["bodies"])
    steps = f"{reply['steps']:,} {'step' if reply['steps'] == 1 else 'steps'}"
    return cut(
        f"{printable(reply['id'], keep='')} version {reply['version']:,}: {count:,} "
        f"{'body' if count == 1 else 'bodies'}, {span_text(reply['days'])}, {reply['method']}, {steps}",
        WIDTH,
    )


def span_text(days: float) -> str:
    """Return a span of time in days, and in years if it is long."""
    unit = "day" if abs(days) == 1 else "days"
    return f"{days:,.6g} {unit}" + (f" ({days / 365.25:,.4g} years)" if abs(days) >= 730 else "")


def wrap(text: str, indent: str = "") -> list[str]:
    """Return the lines of a paragraph."""
    return textwrap.wrap(printable(text, keep=""), WIDTH, initial_indent=indent, subsequent_indent=indent) or [""]


def cut(text: str, width: int) -> str:
    """Return a text that is not longer than `width`."""
    return text if len(text) <= width else text[: width - 1] + "…"


def range_text(values: Mapping[str, float] | None, digits: int = 3) -> str:
    """Return the least and the largest of values, or one of them if they agree to so many digits."""
    if values is None:
        return "-"
    low, high = f"{values['min']:.{digits}g}", f"{values['max']:.{digits}g}"
    return low if low == high else f"{low}–{high}"


def _bodies(reply: Reply, short: Mapping[str, str]) -> Iterator[str]:
    if not reply["orbits"]:
        return
    rows = [("body", "a (AU)", "e", "i (deg)", "period (d)", "err (°)")]
    for key, orbit in list(reply["orbits"].items())[:_MOST_ROWS]:
        period = orbit["meanPeriod"]
        rows.append(
            (
                short.get(key, key),
                range_text(orbit["semiMajorAxis"], 5),
                range_text(orbit["eccentricity"]),
                range_text(orbit["inclination"]),
                "-" if period is None else f"{period:.7g}",
                _number(reply["error"].get(key, {}).get("degrees"), 1),
            )
        )
    yield from tabulate(rows, right=(4, 5))
    yield from _more(len(reply["orbits"]), _MOST_ROWS, "body", "bodies")
    yield ""


def _resonances(reply: Reply, short: Mapping[str, str]) -> Iterator[str]:
    """Yield each group of bodies near a resonance with the angle that swings least, or the first if none does."""
    best: dict[tuple[str, ...], Reply] = {}
    for one in reply["resonances"]:
        key = tuple(one["bodies"])
        if key not in best or _swing(one) < _swing(best[key]):
            best[key] = one
    if not best:
        return
    yield "Resonances"
    rows: list[tuple[str, ...]] = []
    for bodies, one in list(best.items())[:_MOST_ROWS]:
        between = " ".join(short.get(key, key) for key in bodies)
        swing = "" if one["centre"] is None else f"{one['centre']:.0f} ± {one['halfRange']:.0f}°"
        rows.append((f"  {between}", one.get("ratio") or "Laplace", one["behaviour"], swing, angle_text(one, short)))
    yield from tabulate(rows, right=())
    yield from _more(len(best), _MOST_ROWS, "resonance", "resonances")
    yield ""


def _swing(resonance: Reply) -> tuple[bool, float]:
    half_range = resonance["halfRange"]
    return resonance["behaviour"] != "librates", 360.0 if half_range is None else half_range


def angle_text(resonance: Reply, short: Mapping[str, str]) -> str:
    """Return a resonant angle with short names: λ is a mean longitude, ϖ the longitude of a periapsis."""
    if "longitudes" not in resonance:
        return str(resonance["angle"])
    names = [short.get(key, key) for key in resonance["bodies"]]
    terms = [(number, "λ", name) for number, name in zip(resonance["longitudes"], names, strict=True)]
    terms += [(number, "ϖ", name) for number, name in zip(resonance["apsides"], names, strict=True)]
    if terms[0][0] < 0:  # a pair: the outer body first
        terms.sort(key=lambda term: term[0] < 0)
    parts = [f"{'-' if n < 0 else '+'} {'' if abs(n) == 1 else abs(n)}{sign}({name})" for n, sign, name in terms if n]
    return " ".join(parts).removeprefix("+ ")


def _pairs(reply: Reply, short: Mapping[str, str]) -> Iterator[str]:
    """Yield the period ratios and closest approaches of neighbours, which are first in the reply."""
    neighbours = [one for one in reply["pairs"] if one["closest"] is not None][: max(1, len(reply["orbits"]) - 1)]
    if not neighbours:
        return
    rows = [("pair", "period ratio", "closest (AU)", "mutual Hill radii", "day")]
    for one in neighbours[:_MOST_ROWS]:
        closest = one["closest"]
        rows.append(
            (
                f"{short.get(one['inner'], one['inner'])} {short.get(one['outer'], one['outer'])}",
                "-" if one["periodRatio"] is None else f"{one['periodRatio']:.5f}",
                f"{closest['au']:.4g}",
                "-" if closest["hillRadii"] is None else f"{closest['hillRadii']:.3g}",
                f"{closest['day']:.6g}",
            )
        )
    yield from tabulate(rows, right=(1, 2, 3, 4))
    yield ""


def _events(reply: Reply, short: Mapping[str, str]) -> Iterator[str]:
    """Yield encounters, collisions and ejections, if there were any."""
    lines: list[str] = []
    for one in reply["encounters"][:_MOST_ROWS]:
        hill = "" if one.get("hillRadii") is None else f" ({one['hillRadii']:.3g} mutual Hill radii)"
        lines.append(f"day {one['day']:.6g}: {_both(one, short)} pass at {one['au']:.4g} AU{hill}")
    for one in reply["collisions"][:_MOST_ROWS]:
        merged = one.get("survivor")
        after = f"; {short.get(merged, merged)} goes on with both" if merged else ""
        lines.append(f"day {one['day']:.6g}: {_both(one, short)} collide{after}")
    lines += [
        f"day {one['day']:.6g}: {short.get(one['id'], one['id'])} leaves the system" for one in reply["ejections"]
    ]
    if lines:
        yield "Encounters, collisions, ejections"
        for line in lines[:_MOST_ROWS]:
            yield cut("  " + printable(line, keep=""), WIDTH)
        total = sum(len(reply[key]) for key in ("encounters", "collisions", "ejections"))
        yield from _more(total, _MOST_ROWS, "event", "events")
        yield ""


def _both(event: Reply, short: Mapping[str, str]) -> str:
    return " and ".join(short.get(key, key) for key in event["bodies"])


def _errors(reply: Reply) -> Iterator[str]:
    yield "Errors" if reply["trustworthy"] else f"Errors: {_NOT_TRUSTED}"
    for name in ("arithmetic", "start", "physics"):
        told = reply["errors"][name]
        text = told if isinstance(told, str) else " ".join(told)
        label = {"arithmetic": "arithmetic", "start": "start", "physics": "missing physics"}[name]
        lines = wrap(f"{label}: {text or 'none known.'}", "    ")
        yield "  " + lines[0].lstrip()
        yield from lines[1:]
    energy, momentum = reply["energyDrift"], reply["angularMomentumDrift"]
    if energy and momentum:
        yield f"  conserved: energy to {energy['max']:.1g}, angular momentum to {momentum['max']:.1g}"


def _number(value: float | None, digits: int = 2) -> str:
    return "-" if value is None else f"{value:.{digits}g}"


def _more(count: int, most: int, one: str, many: str) -> Iterator[str]:
    if count > most:
        left = count - most
        yield f"  … and {left:,} more {one if left == 1 else many}; --json has all"


def tabulate(rows: Sequence[tuple[str, ...]], right: Sequence[int]) -> Iterator[str]:
    """Yield rows with aligned columns, cut at the width."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = (
            text.rjust(width) if column in right else text.ljust(width)
            for column, (text, width) in enumerate(zip(row, widths, strict=True))
        )
        yield cut("  ".join(cells).rstrip(), WIDTH)
