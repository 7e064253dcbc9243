"""The number and the language of the papers that a text asks for, and limits that a search can work with."""

from datetime import date

from paper_search.intent.reading import Limits, Reading
from paper_search.intent.wishes import WISHES
from paper_search.models import MAX_RESULTS_CAP, SearchConstraints
from paper_search.query.languages import parse_language, to_english_name
from uraniborg.kernel.text import plural
from uraniborg.kernel.years.numbers import parse_number
from uraniborg.kernel.years.reading import is_publication_year, sort_years


def read_amount(reading: Reading) -> Reading:
    """Read the number of papers a text asks for; "top 5 error" and "a meta-analysis of 40 studies" ask for none."""
    for pattern in WISHES.compile_each("amount"):
        match = pattern.search(reading.rest)
        if match and (wanted := parse_number(match["amount"])) > 0:
            reading.limits["max_results"], notes = _clamp_amount(wanted)
            reading.notes += notes or [f"At most {plural(wanted, 'paper')}, as the query asks."]
            reading.cut(*match.span())
            break
    return reading


def read_language(reading: Reading) -> Reading:
    """Read the language a text asks for; the first one counts."""
    patterns = WISHES.patterns
    if match := patterns["language_refused"].search(reading.rest):
        reading.cut(*match.span())
        reading.notes.append(f"“{match[0].strip()}” was ignored: sources cannot exclude a language.")
    if match := patterns["language_others"].search(reading.rest):
        reading.cut(match.start(), match.start("language"))
        others, language = " ".join(match["others"].split()), match["language"].title()
        reading.notes.append(f"“{others}” was ignored: a search has one language, here {language}.")
    for pattern in WISHES.compile_each("language"):
        match = pattern.search(reading.rest)
        if not match or not (code := parse_language(match["language"])):
            continue
        typed = " ".join(match[0].split())
        if match.groupdict().get("bare") and patterns["about_language"].search(reading.rest):
            reading.notes.append(f"“{typed}” is part of the topic. To ask for a language, write “papers in …”.")
        else:
            reading.limits["language"] = code
            reading.cut(*match.span())
            reading.notes.append(f"“{typed}” was read as papers written in {to_english_name(code).title()}.")
        break
    return reading


def correct_limits(limits: SearchConstraints, today: date) -> tuple[SearchConstraints, list[str]]:
    """Return limits that a search can work with, and a note for each limit that changed."""
    years = (limits.year_from, limits.year_to)
    wrong = [year for year in years if year is not None and not is_publication_year(year, today)]
    notes = [f"{year} is not a possible year of publication and was ignored." for year in wrong]
    year_from, year_to, swapped = sort_years(*(None if year in wrong else year for year in years))
    language = parse_language(limits.language)
    if limits.language and language is None:
        notes.append(f"The language “{limits.language[:40]}” is unknown and was ignored.")
    max_results, capped = _clamp_amount(limits.max_results)
    corrected = {"year_from": year_from, "year_to": year_to, "language": language, "max_results": max_results}
    return limits.model_copy(update=corrected), [*notes, *swapped, *capped]


def apply_limit_changes(limits: SearchConstraints, changes: Limits) -> SearchConstraints:
    """Return the limits with the changes applied; an older year that contradicts a changed one is dropped."""
    changed = limits.model_copy(update=changes)
    if changes and changed.year_from and changed.year_to and changed.year_from > changed.year_to:
        return changed.model_copy(update=dict.fromkeys({"year_from", "year_to"} - changes.keys()))
    return changed


def _clamp_amount(wanted: int) -> tuple[int, list[str]]:
    """Return the nearest number of papers that a search can return, and a note if it is not the wanted number."""
    allowed = min(max(wanted, 1), MAX_RESULTS_CAP)
    note = f"{wanted:,} papers were asked for, but a search returns 1 to {MAX_RESULTS_CAP:,}; the limit is {allowed:,}."
    return allowed, [] if allowed == wanted else [note]
