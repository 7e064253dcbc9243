"""Two runs side by side in words for a terminal."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from universe.nbody.body_names import shorten_names
from universe.nbody.summary import format_angle, format_heading
from universe.nbody.tables import format_table, wrap_text

_MOST_ROWS: Final = 30


def summarise_comparison(
    first: Mapping[str, Any], second: Mapping[str, Any], differences: Mapping[str, Any], names: Mapping[str, str]
) -> list[str]:
    """Return the lines of a comparison of two replies; `names` are the names of the bodies by id."""
    ids = list(names)
    short = dict(zip(ids, shorten_names(list(names.values())), strict=True))
    lines = [format_heading(first), format_heading(second), "", *wrap_text(differences["verdict"]), ""]
    lines += [*_summarise_resonances(first, second, differences, short), *_summarise_orbits(differences, short)]
    lines += [*_summarise_pairs(differences, short, len(ids)), *_summarise_chaos(differences)]
    for label, reply in (("first", first), ("second", second)):
        if not reply["trustworthy"]:
            lines += ["", *wrap_text(f"The {label} run is NOT TRUSTWORTHY: {' '.join(reply['errors']['arithmetic'])}")]
    return lines


def _summarise_resonances(
    first: Mapping[str, Any], second: Mapping[str, Any], found: Mapping[str, Any], short: Mapping[str, str]
) -> Iterator[str]:
    rows: list[tuple[str, ...]] = [("resonant angle", "first", "second")]
    known = {one["angle"]: one for one in (*second["resonances"], *first["resonances"])}
    chosen = [one for one in found["resonances"] if one["kind"] == "laplace" or one["changed"]][:_MOST_ROWS]
    for one in chosen:
        cells = zip(one["behaviour"], one["centre"], one["halfRange"], strict=True)
        rows.append((format_angle(known[one["angle"]], short), *(_describe_behaviour(*cell) for cell in cells)))
    if chosen:
        yield from format_table(rows, right=())
        if left := len(found["resonances"]) - len(chosen):
            yield f"  {left:,} more {'angle' if left == 1 else 'angles'} in --json"
        yield ""


def _describe_behaviour(behaviour: str | None, centre: float | None, half_range: float | None) -> str:
    if behaviour is None:
        return "-"
    return behaviour if centre is None or half_range is None else f"{behaviour} {centre:.0f} ± {half_range:.0f}"


def _summarise_orbits(found: Mapping[str, Any], short: Mapping[str, str]) -> Iterator[str]:
    rows: list[tuple[str, ...]] = [("body", "period (d)", "", "largest e", "")]
    for key, one in list(found["orbits"].items())[:_MOST_ROWS]:
        periods, peaks = _format_both(one["meanPeriod"], ".7g"), _format_both(one["eccentricityMax"], ".3g")
        rows.append((short.get(key, key), *periods, *peaks))
    if len(rows) > 1:
        yield from format_table(rows, right=(1, 2, 3, 4))
        yield ""


def _summarise_pairs(found: Mapping[str, Any], short: Mapping[str, str], bodies: int) -> Iterator[str]:
    rows: list[tuple[str, ...]] = [("pair", "period ratio", "", "closest, mutual Hill radii", "")]
    known = [one for one in found["pairs"] if any(value is not None for value in one["closestHillRadii"])]
    for one in known[: min(_MOST_ROWS, max(1, bodies - 2))]:
        name = f"{short.get(one['inner'], one['inner'])} {short.get(one['outer'], one['outer'])}"
        rows.append((name, *_format_both(one["periodRatio"], ".5f"), *_format_both(one["closestHillRadii"], ".3g")))
    if len(rows) > 1:
        yield from format_table(rows, right=(1, 2, 3, 4))
        yield ""


def _summarise_chaos(found: Mapping[str, Any]) -> Iterator[str]:
    megno = " and ".join(_format_both(found["chaos"]["megno"], ".2g"))
    days = " and ".join(_format_both(found["chaos"]["lyapunovDays"], ".3g"))
    yield f"MEGNO {megno}; Lyapunov time in days {days} (- is none seen)"


def _format_both(values: Sequence[float | None], form: str) -> list[str]:
    return ["-" if value is None else format(value, form) for value in values]
