"""Show a strategy as each source would receive it, in words for terminals, and as one query for another database."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Final

from pydantic import Field
from typing_extensions import TypedDict

from paper_search.domain.query.filters import has_year_limit, parse_language, to_english_name
from paper_search.domain.query.identifier_queries import read_identifiers
from paper_search.domain.query.ladder import list_common_exclusions
from paper_search.domain.query.query_texts import is_query_received, parse_phrase, select_queries
from paper_search.domain.source_descriptions import format_source_labels, get_source_label
from paper_search.domain.strategies.plain_words import find_limits, parse_search_query
from paper_search.domain.strategies.platform_rendering import tag_plain_terms
from paper_search.domain.strategies.platform_translation import (
    PLATFORMS,
    Translation,
    describe_source_changes,
    parse_any_query,
    translate_node,
)
from paper_search.domain.strategies.strategy_parser import is_strategy
from paper_search.domain.strategies.terms import FieldTerm, build_field_term
from paper_search.models import (
    MAX_RESULTS_CAP,
    ConceptBlock,
    PartOrigin,
    SearchConstraints,
    SearchQuery,
    SearchStrategy,
)
from paper_search.sources.http_source import build_first_requests, explain_missing_requests, find_query_text
from paper_search.sources.interfaces import SourceDefinition
from paper_search.sources.registry import KNOWN, load_known_or_installed_definition
from uraniborg.kernel.language.boolean_query import AllOf, Node, iterate_wanted_terms, join_all, join_any
from uraniborg.kernel.language.words import fold_text
from uraniborg.kernel.logging import get_logger, redact

_MOST_ADDRESS_CHARS: Final = 4_000
_log = get_logger(__name__)


class QueryTranslation(TypedDict):
    """A query as one source receives it: a ranking source gets words, other sources Boolean text."""

    source: str
    label: Annotated[str, Field(description="The name of the source that people know.")]
    is_received: bool
    text: Annotated[str | None, Field(description="The exact text; null if the source does not receive the query.")]
    address: str | None
    notes: Annotated[list[str], Field(description="What is lost, or applied after the papers arrive.")]
    problem: Annotated[str | None, Field(description="Why the source does not receive the query.")]


def translate_queries(
    names: Sequence[str], queries: Sequence[SearchQuery], filters: SearchConstraints
) -> list[list[QueryTranslation]]:
    columns = [_translate_for_source(name, queries, filters) for name in names]
    return [[column[index] for column in columns] for index in range(len(queries))]


def list_source_changes(strategy: SearchStrategy) -> dict[str, list[str]]:
    """Return what sources change or lose of the strategies among the queries, by the names of sources that do alike."""
    texts = [query.boolean_query for query in strategy.queries if is_strategy(query.boolean_query)]
    names: dict[tuple[str, ...], list[str]] = {}
    for name in strategy.sources if texts else ():
        try:
            kind = load_known_or_installed_definition(name).kind
        except Exception:  # a source of the caller, which is an object in this process
            kind = None
        changes = dict.fromkeys(change for text in texts for change in describe_source_changes(name, kind, text))
        names.setdefault(tuple(changes), []).append(name)
    return {", ".join(alike): list(changes) for changes, alike in names.items() if changes}


def _translate_for_source(
    name: str, queries: Sequence[SearchQuery], filters: SearchConstraints
) -> list[QueryTranslation]:
    """Return each query as the source receives it. Never raises."""
    try:
        definition = load_known_or_installed_definition(name)
    except Exception:
        _log.exception("the definition of a source cannot be loaded", source=name)
        return [_explain_failure(name) for _ in queries]
    translations: list[QueryTranslation] = []
    for query in queries:
        if not is_query_received(definition.kind, query, queries):
            needed = "plain words" if definition.kind == "ranked" else "a Boolean text"
            problem = f"{get_source_label(name)} receives {needed}, and this query has none."
            translations.append(_make_translation(name, problem=problem))
            continue
        try:
            [received] = select_queries(definition.kind, [query])
            translations.append(_translate_query(definition, received, filters))
        except Exception:
            _log.exception("a source cannot translate a query", source=name)
            translations.append(_explain_failure(name))
    return translations


def _translate_query(definition: SourceDefinition, query: SearchQuery, filters: SearchConstraints) -> QueryTranslation:
    name, limit = definition.name, min(max(filters.max_results, 1), MAX_RESULTS_CAP)
    requests = build_first_requests(definition, query, filters, limit)
    if not requests:
        return _make_translation(name, problem=explain_missing_requests(query))
    text = find_query_text(query, requests)
    notes = _list_notes(definition, query, filters, text)
    address = redact(requests[0].address)[:_MOST_ADDRESS_CHARS]
    return _make_translation(name, text=text, address=address, notes=notes)


def _make_translation(
    name: str,
    *,
    text: str | None = None,
    address: str | None = None,
    notes: Sequence[str] = (),
    problem: str | None = None,
) -> QueryTranslation:
    return {
        "source": name,
        "label": get_source_label(name),
        "is_received": problem is None,
        "text": text,
        "address": address,
        "notes": [*notes],
        "problem": problem,
    }


def _explain_failure(name: str) -> QueryTranslation:
    problem = f"{get_source_label(name)} cannot translate this query; the log has the details."
    return _make_translation(name, problem=problem)


def _list_notes(definition: SourceDefinition, query: SearchQuery, filters: SearchConstraints, text: str) -> list[str]:
    """Return what the source does not do itself, and whether the query was cut to its limit."""
    notes = [remark] if (remark := getattr(definition, "remark", "")) else []
    notes += describe_source_changes(definition.name, definition.kind, query.boolean_query)
    can, node = definition.capabilities, parse_search_query(query)
    if has_year_limit(filters) and "year" not in can:
        notes.append("Years are checked after the papers arrive.")
    elif has_year_limit(filters) and definition.name in KNOWN:  # an installed source says in its remark what it does
        notes.append("The source applies the limit of years itself and may leave out papers without a year.")
    if filters.language and "language" not in can:
        notes.append("The language is checked after the papers arrive.")
    if node is None or read_identifiers(text):
        return notes
    if isinstance(node, AllOf) and node.excluded and "not" not in can:
        notes.append("Excluded words are checked after the papers arrive.")
    sent = fold_text(text)
    terms = list(iterate_wanted_terms(node))
    lost = [term for term in terms if not all(fold_text(word.rstrip("*")) in sent for word in term.words)]
    if lost:
        notes.append(f"Cut to the limit of the source: {len(terms) - len(lost)} of {len(terms)} terms are sent.")
    return notes


def describe_plan(strategy: SearchStrategy) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each part, in the order in which a person reads them."""
    for block in strategy.blocks:
        yield "concept", _describe_block(block)
    for suggestion in strategy.suggestions:
        where = f", joins {suggestion.block}" if suggestion.block else ""
        yield "suggest", f"{suggestion.term} ({suggestion.reason}{where})"
    has_rungs = len({query.rung for query in strategy.queries}) > 1
    for query in strategy.queries:
        yield "query", _describe_query(query, has_rungs=has_rungs)
    yield "sources", format_source_labels(strategy.sources)
    for names, changes in list_source_changes(strategy).items():
        yield "changed", f"{format_source_labels(names.split(', '))}: {' '.join(changes)}"


def format_origin_value(origin: PartOrigin) -> str:
    """Return the value of a part of a strategy, sources by the names that people know."""
    return format_source_labels(origin.value.split(", ")) if origin.part == "sources" else origin.value


def _describe_block(block: ConceptBlock) -> str:
    facts = ", ".join(filter(None, ("" if block.active else "off", block.reason)))
    return " OR ".join(block.variants or [block.name]) + (f" ({facts})" if facts else "")


def _describe_query(query: SearchQuery, *, has_rungs: bool) -> str:
    rung = f"rung {query.rung + 1}: " if has_rungs else ""
    words = f"{query.words} (words for ranking sources)" if query.words.strip() else ""
    return rung + "; ".join(filter(None, (query.boolean_query, words)))


_TAG: Final = "tiab"
"""The field in which concepts of a question are searched."""


def copy_plan(strategy: SearchStrategy, platform: str) -> Translation:
    """Return the plan in the syntax of a platform, one of `PLATFORMS`."""
    return translate_node(build_plan_query(strategy), PLATFORMS[platform])


def list_plan_copies(strategy: SearchStrategy) -> list[Translation]:
    """Return the plan in the syntax of each platform."""
    tree = build_plan_query(strategy)
    return [translate_node(tree, platform) for platform in PLATFORMS.values()]


def build_plan_query(strategy: SearchStrategy) -> Node | None:
    """Return all concepts of a plan joined by AND, or any of the queries of a person, with the limits of the plan."""
    own = [block for block in strategy.blocks if block.active and not block.learned]
    if own:
        concepts = [join_any(map(parse_phrase, block.variants)) for block in own]
        asked = join_all(concepts, list_common_exclusions(strategy.queries))
        found = tag_plain_terms(asked, _TAG) if asked else None
    else:
        texts = [query.boolean_query or query.words for query in strategy.queries]
        found = join_any(map(parse_any_query, texts))
    return _add_limits(found, strategy.filters) if found else None


def _add_limits(tree: Node, filters: SearchConstraints) -> Node:
    stated = find_limits(tree)
    years, language = (filters.year_from, filters.year_to), parse_language(filters.language)
    limits: list[FieldTerm | None] = []
    if any(years) and years != (stated.year_from, stated.year_to):
        limits.append(build_field_term(f"{years[0] or 1000}:{years[1] or 3000}", "dp"))
    if language and language != parse_language(stated.language):
        limits.append(build_field_term(to_english_name(language), "la"))
    if isinstance(tree, AllOf):
        return join_all([*tree.parts, *limits], tree.excluded) or tree
    return join_all([tree, *limits]) or tree
