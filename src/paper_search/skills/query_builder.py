"""The skill that builds the strategy of a round: with a language model if one is configured, otherwise by rule."""

import asyncio
from collections.abc import Sequence

from pydantic import BaseModel, Field

from paper_search.domains import get_domain
from paper_search.identifier_queries import read_identifiers
from paper_search.intent.block_changes import accept_suggestions, add_blocks
from paper_search.intent.concept_blocks import MAX_BLOCKS, make_block
from paper_search.intent.feedback import list_exact_changes, select_accepted
from paper_search.intent.reading import correct_limits
from paper_search.intent.strategy_planner import plan_strategy
from paper_search.intent.text_cleanup import normalise_text
from paper_search.intent.topic_words import is_generic, list_question_words
from paper_search.intent.vocabulary import Vocabulary
from paper_search.intent.written_queries import split_exclusions
from paper_search.llm.base import LLMProvider
from paper_search.llm.questions import ask_model
from paper_search.models import (
    ConceptBlock,
    PartOrigin,
    QueryBuilderInput,
    SearchConstraints,
    SearchQuery,
    SearchStrategy,
)
from paper_search.query.boolean_query import AnyOf, parse_query
from paper_search.query.ladder import compose_ladder, list_common_exclusions, list_titles
from paper_search.query.rendering import normalise_query, parse_phrase
from paper_search.text import split_words
from uraniborg.kernel.clock import Clock, SystemClock

_PERSONAL = frozenset({"max_results", "min_relevance"})
"""Limits that a model does not set: how many papers a search returns, and which are removed unasked."""
_MAX_QUERIES = 5
_MAX_QUERY_CHARACTERS = 2_000
_MAX_TITLES = 20
_MAX_TITLE_CHARACTERS = 200
_MAX_NAME_CHARACTERS = 80


class _ProposedBlock(BaseModel):
    """A concept as a model names it."""

    name: str
    variants: list[str] = Field(default_factory=list)


class _ProposedPlan(BaseModel):
    """The plan of a model. It names concepts; a model that writes queries all the same is understood too."""

    blocks: list[_ProposedBlock] = Field(default_factory=list[_ProposedBlock])
    queries: list[SearchQuery] = Field(default_factory=list[SearchQuery])
    sources: list[str]
    filters: SearchConstraints = Field(default_factory=SearchConstraints)


class QueryBuilder:
    """Builds the strategy of each round. Raises UnknownDomain for an unknown domain.

    A strategy names only `available_sources`; their default is the list of the domain.
    """

    def __init__(
        self,
        llm: LLMProvider | None = None,
        domain: str = "general",
        available_sources: list[str] | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._llm = llm
        self._domain = get_domain(domain)
        self._vocabulary = Vocabulary(self._domain.synonyms)
        self._sources = _sort_by_priority(available_sources, self._domain.priority_sources)
        self._clock = clock or SystemClock()

    async def build(self, input: QueryBuilderInput) -> SearchStrategy:  # noqa: A002 - the name users know
        """Return the next strategy; `notes` say what changed and why. Never raises: rules replace a failing model."""
        by_rule = await asyncio.to_thread(
            plan_strategy, input, self._vocabulary, self._sources, self._clock.now().date()
        )
        if self._llm is None or input.intent.typed_query or read_identifiers(input.intent.topic):
            return by_rule
        given = self._describe_input(input)
        plan, problem = await ask_model(self._llm, "plan_search", self._domain, given, _ProposedPlan)
        if plan and (proposed := self._limit_strategy(plan, by_rule, input)).queries:
            return proposed
        note = f"{problem or 'The language model proposed no new query'}, so the queries were built by rule."
        return by_rule.model_copy(update={"notes": [note, *by_rule.notes]})

    def _describe_input(self, given: QueryBuilderInput) -> dict[str, object]:
        feedback = [*given.earlier_feedback, *([given.user_feedback] if given.user_feedback else ())]
        last = given.previous_strategies[-1] if given.previous_strategies else None
        return {
            "intent": given.intent.model_dump(mode="json", exclude={"notes"}),
            "available_sources": self._sources,
            "previous_queries": [
                query.boolean_query
                for strategy in given.previous_strategies
                for query in strategy.queries
                if query.boolean_query
            ],
            "last_strategy": last and last.model_dump(mode="json", exclude={"notes", "origins"}),
            "set_by_person": [origin.part for origin in last.origins if origin.by_person] if last else [],
            "feedback": "\n".join(text for one in feedback for text in one.texts),
            "relevant_titles": _clip_titles(given.relevant_titles),
            "irrelevant_titles": _clip_titles(given.irrelevant_titles),
        }

    def _limit_strategy(
        self, proposed: _ProposedPlan, by_rule: SearchStrategy, given: QueryBuilderInput
    ) -> SearchStrategy:
        """Return the model's plan with the ladder of its blocks, available sources and valid limits.

        A plan without usable blocks keeps its queries that are new and readable. Blocks that a person set stay.
        """
        blocks = self._select_blocks(proposed.blocks, by_rule, given)
        if blocks:
            excluded = list_common_exclusions(by_rule.queries)
            titles = list_titles(by_rule.queries)
            queries = compose_ladder(blocks, excluded, list_question_words(given.intent.topic), titles)
        else:
            queries = _select_new_queries(proposed.queries, given.previous_strategies)
        filters, notes = correct_limits(proposed.filters, self._clock.now().date())
        fixed = {*_PERSONAL, *(origin.part for origin in by_rule.origins if origin.by_person)}
        stated = {name: value for name, value in filters if value is not None and name not in fixed}
        limits, _ = correct_limits(by_rule.filters.model_copy(update=stated), self._clock.now().date())
        subject = "concepts" if blocks else "queries"
        return SearchStrategy(
            queries=queries,
            sources=[name for name in self._sources if name in proposed.sources] or list(self._sources),
            filters=limits,
            notes=[f"The {subject} were written by a language model.", *notes, *list_exact_changes(by_rule.notes)],
            origins=_list_origins(queries, by_rule),
            blocks=blocks,
            suggestions=by_rule.suggestions,
        )

    def _select_blocks(
        self, proposed: Sequence[_ProposedBlock], by_rule: SearchStrategy, given: QueryBuilderInput
    ) -> list[ConceptBlock]:
        """Return the model's concepts that carry a topic, each once, and the blocks that feedback and papers taught."""
        last = given.previous_strategies[-1] if given.previous_strategies else None
        if last and any(origin.part == "blocks" and origin.by_person for origin in last.origins):
            return by_rule.blocks
        made = [
            make_block(name, self._vocabulary, _clip_names(block.variants), reason="named by the language model")
            for block in proposed
            for name in _clip_names([block.name])
            if not all(map(is_generic, split_words(name)))
        ]
        own = add_blocks([], made)[:MAX_BLOCKS]
        if not own:
            return []
        own = add_blocks(own, [block for block in by_rule.blocks if block.learned or not block.active])
        accepted = given.user_feedback.use_suggestions if given.user_feedback else False
        return accept_suggestions(own, select_accepted(given.suggestions, accepted), self._vocabulary)


def _clip_names(names: Sequence[str]) -> list[str]:
    cleaned = (normalise_text(name).replace('"', " ").strip()[:_MAX_NAME_CHARACTERS] for name in names)
    return [name for name in cleaned if parse_phrase(name)]


def _select_new_queries(proposed: Sequence[SearchQuery], previous: Sequence[SearchStrategy]) -> list[SearchQuery]:
    """Return the readable queries that no earlier round searched, without disjunctions of loose words."""
    tried = {normalise_query(query.boolean_query) for strategy in previous for query in strategy.queries}
    queries: dict[str, SearchQuery] = {}
    for query in proposed:
        boolean = normalise_query(query.boolean_query) or normalise_query(
            " AND ".join(f'"{word}"' for word in query.keywords)
        )
        is_new = boolean not in tried and len(boolean) <= _MAX_QUERY_CHARACTERS
        if (tree := parse_query(boolean)) and is_new and not isinstance(split_exclusions(tree)[0], AnyOf):
            queries.setdefault(boolean, query.model_copy(update={"boolean_query": boolean}))
    return list(queries.values())[:_MAX_QUERIES]


def _list_origins(queries: Sequence[SearchQuery], by_rule: SearchStrategy) -> list[PartOrigin]:
    """Return the origins of the model's queries, and of the limits that the rules read from the feedback."""
    reason = "written by a language model"
    return [
        *(
            PartOrigin(
                part=f"queries[{index}]", value=query.boolean_query or query.words, inherited=False, reason=reason
            )
            for index, query in enumerate(queries)
        ),
        *(origin for origin in by_rule.origins if origin.by_person),
    ]


def _sort_by_priority(available: list[str] | None, priority: Sequence[str]) -> list[str]:
    names = list(dict.fromkeys(priority if available is None else available))
    return sorted(names, key=lambda name: priority.index(name) if name in priority else len(priority))


def _clip_titles(titles: Sequence[str]) -> list[str]:
    return [normalise_text(title)[:_MAX_TITLE_CHARACTERS] for title in titles[:_MAX_TITLES]]
