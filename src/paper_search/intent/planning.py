"""Plans the queries of one round by rule: strict first, then broader, and never the same again."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date

from paper_search.intent.composing import Composer
from paper_search.intent.expression import term, tidied
from paper_search.intent.ideas import Idea, ideas_of, most_specific
from paper_search.intent.lessons import Lessons, learned_terms, read_feedback, terms_to_avoid
from paper_search.intent.limits import sane_limits, with_changes
from paper_search.intent.purpose import MARKERS
from paper_search.intent.typed import typed_query
from paper_search.intent.vocabulary import Key, Vocabulary, key_of, singular
from paper_search.lookups import Identifier, lookup_query, read_identifiers
from paper_search.models import ParsedIntent, QueryBuilderInput, SearchQuery, SearchStrategy
from paper_search.sources.boolean import Node

MAX_IDEAS = 6
MAX_QUERIES = 3
MAX_BROADER_QUERIES = 1


def plan(given: QueryBuilderInput, vocabulary: Vocabulary, sources: Sequence[str], today: date) -> SearchStrategy:
    """The strategy of the next round. Never raises; an intent without words gives a strategy without queries."""
    intent = given.intent
    if identifiers := read_identifiers(intent.topic):
        return _plan_lookup(identifiers, intent, sources, today)
    ideas = ideas_of(intent, vocabulary)
    lessons, learned = _lessons_of(given, ideas, vocabulary, today)
    filters, notes = sane_limits(with_changes(intent.constraints, lessons.limits), today)
    typed = typed_query(intent.topic, vocabulary)
    asked, excluded, contradictions = _sorted_out(ideas, intent, lessons, as_typed=typed is not None)
    refused = {key_of(text) for text in lessons.unwanted}
    composer = Composer(
        asked,
        excluded,
        authors=_unnamed(map(_family_name, [*intent.authors, *lessons.authors]), asked),
        venues=_unnamed(intent.venues, asked),
        typed=typed if refused.isdisjoint(key_of(idea.text) for idea in ideas) else None,
    )

    tried = {
        tidied(query.boolean_query)
        for strategy in given.previous_strategies
        if _bounds(strategy) == (filters.year_from, filters.year_to, filters.language)
        for query in strategy.queries
    }
    if lessons.wanted or learned:
        candidates = composer.taught(lessons.wanted, learned)
    elif tried and not lessons.unwanted and not lessons.authors:
        candidates = iter(())
    else:
        candidates = composer.opening(MARKERS.get(intent.intent_type, ()))
    queries = _fresh(candidates, tried, MAX_QUERIES) or _fresh(composer.broader(), tried, MAX_BROADER_QUERIES)
    if not queries:
        queries = _fresh(composer.opening(()), set(), MAX_QUERIES)
        notes.append(
            "Every variation of this query was tried before." if queries else "There are no words to search for."
        )
    elif tried and not (lessons.said_something or learned):
        marked = given.relevant_titles or given.irrelevant_titles
        reason = "the papers marked teach no new words" if marked else "nothing was said about the last one"
        notes.append(f"The query was broadened, since {reason}.")
    if not sources:
        notes.append("No source is available, so nothing can be searched.")
    notes += [
        *lessons.notes,
        *contradictions,
        *(f"“{name}” was read as an author." for name in lessons.authors),
        *(f"“{text}” was added, as asked." for text in lessons.wanted),
        *(f"“{text}” was learned from the titles marked relevant." for text in learned),
    ]
    return SearchStrategy(queries=queries, sources=list(sources), filters=filters, notes=notes)


def _plan_lookup(
    identifiers: Sequence[Identifier], intent: ParsedIntent, sources: Sequence[str], today: date
) -> SearchStrategy:
    """Return the strategy that fetches exactly these works, in every round."""
    filters, notes = sane_limits(intent.constraints, today)
    wanted = identifiers[: filters.max_results]
    if len(wanted) < len(identifiers):
        notes.append(
            f"Only the first {len(wanted)} of {len(identifiers)} identifiers are fetched, as max_results asks."
        )
    return SearchStrategy(queries=[lookup_query(wanted)], sources=list(sources), filters=filters, notes=notes)


def _lessons_of(
    given: QueryBuilderInput, ideas: Sequence[Idea], vocabulary: Vocabulary, today: date
) -> tuple[Lessons, list[str]]:
    text = given.user_feedback.free_text_feedback if given.user_feedback else None
    lessons = read_feedback(text, vocabulary, today) if text else Lessons()
    known = [spelling for idea in ideas for spelling in (idea.text, *idea.synonyms)] + lessons.wanted
    relevant, irrelevant = given.relevant_titles, given.irrelevant_titles
    learned = learned_terms(relevant, irrelevant, known, vocabulary)
    refused = {key_of(term) for term in lessons.unwanted}
    avoided = [word for word in terms_to_avoid(relevant, irrelevant, known) if key_of(word) not in refused]
    lessons.unwanted += avoided
    lessons.notes += [f"“{word}” marks papers found irrelevant and is left out." for word in avoided]
    return lessons, [word for word in learned if key_of(word) not in refused]


def _sorted_out(
    ideas: Sequence[Idea], intent: ParsedIntent, lessons: Lessons, *, as_typed: bool
) -> tuple[list[Idea], list[Node], list[str]]:
    """What to ask for and what to leave out, so that nothing is both, and a note on each contradiction."""
    wanted = {key_of(text) for text in lessons.wanted}
    unwanted = {key_of(text): text for text in (*intent.excluded, *lessons.unwanted) if key_of(text) not in wanted}
    kept = [_without_synonyms(idea, unwanted) for idea in ideas if key_of(idea.text) not in unwanted]
    if not kept:
        kept = list(ideas) or [Idea(text) for text in lessons.wanted if term(text)]
    asked = [key_of(spelling) for idea in kept for spelling in (idea.text, *idea.synonyms)] + list(wanted)
    notes: list[str] = []
    excluded: list[Node] = []
    for key, text in unwanted.items():
        if any(_holds(other, key) for other in asked) and not (as_typed and text in intent.excluded):
            notes.append(f"“{text}” is part of what is searched for and cannot be left out.")
        else:
            excluded += [node for spelling in ([text] if as_typed else _spellings(text)) if (node := term(spelling))]
    return most_specific(kept, MAX_IDEAS), excluded, notes


def _without_synonyms(idea: Idea, unwanted: Iterable[Key]) -> Idea:
    refused = list(unwanted)
    kept = tuple(text for text in idea.synonyms if not any(_holds(key_of(text), key) for key in refused))
    return replace(idea, synonyms=kept)


def _spellings(text: str) -> list[str]:
    """A term and, for a plain plural, its singular: not every source knows they are one."""
    *before, last = text.split(" ")
    return list(dict.fromkeys([text, " ".join([*before, singular(last)])]))


def _holds(whole: Key, part: Key) -> bool:
    return bool(part) and any(whole[start : start + len(part)] == part for start in range(len(whole)))


def _family_name(author: str) -> str:
    """The part of a name that sources agree on; they write given names in many ways."""
    names = [word for word in author.partition(",")[0].split() if not re.fullmatch(r"(?:\w\.-?)+", word)]
    return names[-1] if names else author


def _unnamed(names: Iterable[str], ideas: Sequence[Idea]) -> list[str]:
    """The names that no idea holds already."""
    asked = [key_of(idea.text) for idea in ideas]
    return list(dict.fromkeys(name for name in names if not any(_holds(key, key_of(name)) for key in asked)))


def _bounds(strategy: SearchStrategy) -> tuple[int | None, int | None, str | None]:
    return strategy.filters.year_from, strategy.filters.year_to, strategy.filters.language


def _fresh(candidates: Iterable[SearchQuery], tried: set[str], limit: int) -> list[SearchQuery]:
    fresh: dict[str, SearchQuery] = {}
    for query in candidates:
        if len(fresh) < limit and query.boolean_query not in tried:
            fresh.setdefault(query.boolean_query, query)
    return list(fresh.values())
