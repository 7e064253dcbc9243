"""Sixty sentences of feedback in ten languages and three tones, and the check of each reading.

    python -m tests.paper_search.domain.intent.feedback_sentences           # figures only
    python -m tests.paper_search.domain.intent.feedback_sentences tuning    # sentences of one half, not understood

The sentences and their readings were written before the phrases. The hash of a sentence decides whether it belongs to
the tuning half or the check half. Look at sentences of the tuning half only while you change phrases.
"""

import hashlib
import json
import sys
from datetime import date
from pathlib import Path
from typing import Any

from paper_search.domain.field_profiles import get_domain
from paper_search.domain.intent.feedback import read_text
from paper_search.domain.intent.reading import Reading
from paper_search.domain.intent.vocabulary import Vocabulary

TODAY = date(2026, 6, 15)
HALVES = ("tuning", "check")
_VOCABULARY = Vocabulary(get_domain("general").synonyms)
_ROWS = [
    json.loads(line)
    for line in Path(__file__).with_name("feedback_sentences.jsonl").read_text(encoding="utf-8").splitlines()
]
_LIMITS = {"years": ("year_from", "year_to")}

Change = tuple[str, str]


def list_half(name: str) -> list[dict[str, Any]]:
    """Return the rows of one half; "all" gives both."""
    return [row for row in _ROWS if name in ("all", choose_half(row["text"]))]


def choose_half(sentence: str) -> str:
    """Return the half that the hash of a sentence puts it in."""
    return HALVES[hashlib.sha256(sentence.encode()).digest()[0] % 2]


def find_misreadings(row: dict[str, Any]) -> list[Change]:
    """Return the changes that the sentence does not ask for."""
    return sorted(set(_list_changes(_read(row))) - _list_allowed(row))


def is_understood(row: dict[str, Any]) -> bool:
    """Return True if all that the sentence asks for is read, or what it only states is listed as not used."""
    reading = _read(row)
    unused = " ".join(reading.unused)
    return (
        not find_misreadings(row)
        and len(_list_changes(reading)) == _count_wanted(row)
        and all(word in unused for word in row.get("unused", []))
    )


def _read(row: dict[str, Any]) -> Reading:
    return read_text(row["text"], _VOCABULARY, TODAY)


def _list_changes(reading: Reading) -> list[Change]:
    return [
        *(("add", term.casefold()) for term in reading.wanted),
        *(("exclude", term.casefold()) for term in reading.unwanted),
        *(("author", name) for name in reading.authors),
        *((name, str(value)) for name, value in reading.limits.items()),
        *(("direction", direction.value) for direction in reading.directions),
        *([("suggestions", "")] if reading.suggestions else []),
    ]


def _list_allowed(row: dict[str, Any]) -> set[Change]:
    """Return the changes of the expected reading, in each spelling that is right."""
    terms = {
        (name, spelling.casefold())
        for name in ("add", "exclude")
        for text in row.get(name, [])
        for spelling in text.split("|")
    }
    dropped = {(name, "None") for limit in row.get("drop", []) for name in _LIMITS.get(limit, (limit,))}
    years = {(name, str(row[name])) for name in ("year_from", "year_to") if name in row}
    directions = {("direction", name) for name in row.get("directions", [])}
    return terms | dropped | years | directions | ({("suggestions", "")} if "suggestions" in row else set())


def _count_wanted(row: dict[str, Any]) -> int:
    dropped = sum(len(_LIMITS.get(limit, (limit,))) for limit in row.get("drop", []))
    lists = sum(len(row.get(name, [])) for name in ("add", "exclude", "directions"))
    return lists + dropped + sum(name in row for name in ("year_from", "year_to", "suggestions"))


def _print_report(shown: list[str]) -> None:
    for name in HALVES:
        rows = list_half(name)
        print(
            f"{name}: {sum(map(is_understood, rows))} of {len(rows)} understood, "
            f"{sum(bool(find_misreadings(row)) for row in rows)} misread"
        )
        for row in rows if name in shown else ():
            if not is_understood(row):
                reading = _read(row)
                print(f"  {row['text']!r}\n      {_list_changes(reading)}, not used: {reading.unused}")


if __name__ == "__main__":
    _print_report(sys.argv[1:])
