"""Choose what papers are scored against: the question, or the plan that a person put in its place."""

from paper_search.models import ParsedIntent, SearchStrategy
from paper_search.strategies.plain_words import parse_query
from paper_search.strategies.reader import is_strategy
from paper_search.workflow.strategy_origins import get_query_text, select_person_queries
from uraniborg.kernel.boolean_query import iterate_wanted_terms
from uraniborg.kernel.words import extract_terms


def derive_scoring_intent(intent: ParsedIntent, strategy: SearchStrategy) -> ParsedIntent:
    """Return the intent of the strategy that runs.

    If a person set queries, the wanted terms of all queries are its topic; if a person set blocks, their names are.
    Then only the authors and venues of the question that the topic still names are in it.
    """
    asked = _list_terms_set_by_person(strategy)
    authors, venues = (_select_named(names, asked) for names in (intent.authors, intent.venues))
    names = {word for name in (*authors, *venues) for word in extract_terms(name)}
    terms = [term for term in asked if not names.issuperset(extract_terms(term))] or asked
    if not terms:
        return intent
    return intent.model_copy(
        update={
            "topic": ", ".join(terms),
            "concepts": terms,
            "phrases": [term for term in terms if " " in term],
            "authors": authors,
            "venues": venues,
        }
    )


def _list_terms_set_by_person(strategy: SearchStrategy) -> list[str]:
    """Return the terms of the plan if a person set its queries or blocks, or pasted a strategy, otherwise []."""
    if select_person_queries(strategy) or any(is_strategy(query.boolean_query) for query in strategy.queries):
        nodes = [parse_query(get_query_text(query)) for query in strategy.queries]
        return list(dict.fromkeys(term.text for node in nodes if node for term in iterate_wanted_terms(node)))
    if any(origin.part == "blocks" and origin.by_person for origin in strategy.origins):
        # Terms that papers taught count apart from the question.
        return [block.name for block in strategy.blocks if block.active and not block.learned]
    return []


def _select_named(names: list[str], terms: list[str]) -> list[str]:
    """Return the names whose last word is in the terms."""
    asked = {word for term in terms for word in extract_terms(term)}
    return [name for name in names if asked & {*extract_terms(name)[-1:]}]
