"""The table of phrasings and the check of each reading. Run as a module to print the accuracy of each slice.

    python -m tests.paper_search.domain.intent.phrasings            # figures only
    python -m tests.paper_search.domain.intent.phrasings tuning     # the failures of one slice, too

The hash of a phrasing decides whether it belongs to the tuning half or the check half. Look at failures of the tuning
half only while you change rules.

The held-out slice is three batches of sixty phrasings, each written after the rules and before it was run. At that
first run 43 of 60 were read without any problem in every batch, and the years of 58, 56 and 55. The rules were then
fixed for what each batch showed, so the present figures do not predict the accuracy for unseen phrasings.

The strangers are sixty more in 15 languages, written without looking at the rules, and split by hash as well. At the
first run 13 of 29 and 16 of 31 were read without any problem, and the years of 22 and 24. The eight languages that no
rule knew were added then; apart from that no rule was changed for the check half.
"""

import hashlib
import json
import sys
from collections.abc import Iterator, Sequence
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

from paper_search.domain.field_profiles import get_domain
from paper_search.domain.intent.intent_reader import read_intent
from paper_search.domain.intent.strategy_planner import plan_strategy
from paper_search.domain.intent.vocabulary import Vocabulary
from paper_search.domain.query.query_texts import list_wanted_words
from paper_search.domain.strategies.plain_words import parse_query
from paper_search.models import ParsedIntent, QueryBuilderInput
from uraniborg.kernel.language.words import extract_terms

TODAY = date(2026, 6, 15)
HALVES = ("tuning", "check")
SLICES = (*HALVES, "held-out", "strangers-tuning", "strangers-check")
_FOLDER = Path(__file__).parent
_VOCABULARY = Vocabulary(get_domain("general").synonyms)


@cache
def load_slice(name: str) -> tuple[dict[str, Any], ...]:
    """Return the rows of one slice."""
    if name == "held-out":
        return tuple(_read_rows("held_out.jsonl"))
    file, half = ("strangers.jsonl", name.removeprefix("strangers-")) if "-" in name else ("phrasings.jsonl", name)
    return tuple(row for row in _read_rows(file) if choose_half(row["q"]) == half)


def choose_half(phrasing: str) -> str:
    """Return the half that the hash of a phrasing puts it in."""
    return HALVES[hashlib.sha256(phrasing.encode()).digest()[0] % 2]


def find_problems(row: dict[str, Any]) -> list[str]:
    """Return how the reading of a phrasing differs from the row; an empty list when it does not."""
    intent = read_intent(row["q"], _VOCABULARY, TODAY)
    words = _list_search_words(intent)
    checks: dict[str, tuple[object, object]] = {
        "from": (row.get("from"), intent.constraints.year_from),
        "to": (row.get("to"), intent.constraints.year_to),
        "missing": ([], [term for term in row.get("terms", []) if not words.issuperset(_split_spellings(term))]),
        "intruding": ([], [term for term in row.get("not", []) if words & _split_spellings(term)]),
        "phrases": (_fold_texts(row.get("phrases", [])), _fold_texts(intent.phrases)),
        "excluded": (_fold_texts(row.get("excluded", [])), _fold_texts(intent.excluded)),
        "preferences": (_normalise_preferences(row.get("preferences", [])), _normalise_preferences(intent.preferences)),
    }
    if "max" in row:
        checks["max"] = (row["max"], intent.constraints.max_results)
    for name, found in (("authors", intent.authors), ("venues", intent.venues)):
        if name in row:
            checks[name] = (_fold_texts(row[name]), _fold_texts(found))
    return [f"{name}: {wanted} != {found}" for name, (wanted, found) in checks.items() if wanted != found]


def measure_accuracy(name: str) -> float:
    """Return the share of a slice's phrasings that are read without a problem."""
    rows = load_slice(name)
    return sum(not find_problems(row) for row in rows) / len(rows)


def _read_rows(file: str) -> Iterator[dict[str, Any]]:
    path = _FOLDER / file
    if path.exists():
        yield from map(json.loads, path.read_text(encoding="utf-8").splitlines())


def _list_search_words(intent: ParsedIntent) -> set[str]:
    """Return every word that is asked for: of the topic, the concepts and the queries."""
    strategy = plan_strategy(QueryBuilderInput(intent=intent), _VOCABULARY, ["crossref"], TODAY)
    trees = [parse_query(query.boolean_query) for query in strategy.queries]
    asked = [word for tree in trees if tree for word in list_wanted_words(tree)]
    texts = [*asked, *intent.concepts, *intent.phrases, intent.topic]
    return {word for text in texts for word in _split_spellings(text)} | {
        part for text in texts for word in _split_spellings(text) for part in word.split("-") if part
    }


def _split_spellings(text: str) -> set[str]:
    return {word.strip(",;:.!?").casefold() for word in text.split()}


def _fold_texts(texts: list[str]) -> list[str]:
    return sorted(text.casefold() for text in texts)


def _normalise_preferences(preferences: list[str]) -> list[str]:
    """Return the terms of all preferences: "with JWST" and "JWST" are the same wish."""
    return sorted(
        f"not {term}" if text.startswith("not ") else term
        for text in preferences
        for term in extract_terms(text.casefold())
    )


def _format_by_field(rows: Sequence[dict[str, Any]]) -> str:
    """Return the share of rows without a problem in each field."""
    wrong = [{problem.partition(":")[0] for problem in find_problems(row)} for row in rows]
    fields = {"years": {"from", "to"}, "terms": {"missing", "intruding"}, "preferences": {"preferences"}}
    fields["phrases and exclusions"] = {"phrases", "excluded"}
    return ", ".join(
        f"{field} {sum(not problems & names for problems in wrong) / len(rows):.1%}" for field, names in fields.items()
    )


def _print_report(shown: list[str]) -> None:
    for name in SLICES:
        rows = load_slice(name)
        if not rows:
            continue
        print(f"{name}: {measure_accuracy(name):.1%} of {len(rows)}; by field: {_format_by_field(rows)}")
        for row in rows if name in shown else ():
            if problems := find_problems(row):
                print(f"  {row['q']!r}")
                print("".join(f"      {problem}\n" for problem in problems), end="")


if __name__ == "__main__":
    _print_report(sys.argv[1:])
