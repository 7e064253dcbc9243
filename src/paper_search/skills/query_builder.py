"""Skill: build the strategy of a round, with a language model if one is configured, otherwise by rule."""

import asyncio
from collections.abc import Sequence
from typing import TypedDict

from pydantic import BaseModel, Field

from paper_search.domain.field_profiles import get_domain
from paper_search.domain.intent.concept_blocks import MAX_BLOCKS, accept_suggestions, add_missing_blocks, make_block
from paper_search.domain.intent.feedback import list_exact_changes, select_accepted
from paper_search.domain.intent.strategy_planner import plan_strategy
from paper_search.domain.intent.vocabulary import Vocabulary, is_generic, list_question_words
from paper_search.domain.query.identifier_queries import read_identifiers
from paper_search.domain.query.ladder import compose_ladder, list_common_exclusions, list_titles
from paper_search.models import (
    ConceptBlock,
    PartOrigin,
    QueryBuilderInput,
    SearchStrategy,
)
from paper_search.service.llm.provider import LLMProvider, ask_model, clean_texts
from uraniborg.kernel.clock import Clock, SystemClock
from uraniborg.kernel.json_values import JsonObject
from uraniborg.kernel.language.words import split_words

_MAX_TITLES = 20
_MAX_TITLE_CHARACTERS = 200


class _ProposedBlock(BaseModel):
    """A concept as a model names it."""

    name: str
    variants: list[str] = Field(default_factory=list)


class _ProposedPlan(BaseModel):
    """The plan of a model: it names concepts and sources, and rules compose the queries and read the limits."""

    blocks: list[_ProposedBlock]
    sources: list[str]


class _PlanData(TypedDict):
    """What a model knows when it plans a round."""

    intent: JsonObject
    available_sources: list[str]
    last_strategy: JsonObject | None
    set_by_person: list[str]
    feedback: str
    relevant_titles: list[str]
    irrelevant_titles: list[str]


class QueryBuilder:
    """Builds the strategy of each round, of `available_sources` or those of the domain. Raises UnknownDomain."""

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
        priority = self._domain.priority_sources
        names = dict.fromkeys(priority if available_sources is None else available_sources)
        self._sources = sorted(names, key=lambda name: priority.index(name) if name in priority else len(priority))
        self._clock = clock or SystemClock()

    async def build(self, input: QueryBuilderInput) -> SearchStrategy:  # noqa: A002 - the name users know
        """Return the next strategy; `notes` say what changed and why. Never raises: rules replace a failing model."""
        today = self._clock.now().date()
        by_rule = await asyncio.to_thread(plan_strategy, input, self._vocabulary, self._sources, today)
        is_written = input.intent.typed_query or input.person_queries
        if self._llm is None or is_written or read_identifiers(input.intent.topic):
            return by_rule
        given = self._describe_input(input)
        plan, problem = await ask_model(self._llm, "plan_search", self._domain, given, _ProposedPlan)
        if plan and (blocks := self._select_blocks(plan.blocks, by_rule, input)):
            return self._make_strategy(plan, blocks, by_rule, input)
        note = f"{problem or 'The language model named no concept'}, so the queries were built by rule."
        return by_rule.model_copy(update={"notes": [note, *by_rule.notes]})

    def _describe_input(self, given: QueryBuilderInput) -> _PlanData:
        feedback = [*given.earlier_feedback, *([given.user_feedback] if given.user_feedback else ())]
        last = given.previous_strategies[-1] if given.previous_strategies else None
        return {
            "intent": given.intent.model_dump(mode="json", exclude={"notes"}),
            "available_sources": self._sources,
            "last_strategy": last and last.model_dump(mode="json", exclude={"notes", "origins"}),
            "set_by_person": [origin.part for origin in last.origins if origin.by_person] if last else [],
            "feedback": "\n".join(text for one in feedback for text in one.texts),
            "relevant_titles": [title[:_MAX_TITLE_CHARACTERS] for title in given.relevant_titles[:_MAX_TITLES]],
            "irrelevant_titles": [title[:_MAX_TITLE_CHARACTERS] for title in given.irrelevant_titles[:_MAX_TITLES]],
        }

    def _make_strategy(
        self, proposed: _ProposedPlan, blocks: list[ConceptBlock], by_rule: SearchStrategy, given: QueryBuilderInput
    ) -> SearchStrategy:
        """Return the plan with the ladder of the blocks and the available sources that the model chose."""
        excluded, titles = list_common_exclusions(by_rule.queries), list_titles(by_rule.queries)
        queries = compose_ladder(blocks, excluded, list_question_words(given.intent.topic), titles)
        reason = "written by a language model"
        texts = {f"queries[{index}]": query.boolean_query or query.words for index, query in enumerate(queries)}
        origins = [PartOrigin(part=part, value=text, inherited=False, reason=reason) for part, text in texts.items()]
        return SearchStrategy(
            queries=queries,
            sources=[name for name in self._sources if name in proposed.sources] or self._sources,
            filters=by_rule.filters,
            notes=[f"The concepts were {reason}.", *list_exact_changes(by_rule.notes)],
            origins=[*origins, *(origin for origin in by_rule.origins if origin.by_person)],
            blocks=blocks,
            suggestions=by_rule.suggestions,
        )

    def _select_blocks(
        self, proposed: Sequence[_ProposedBlock], by_rule: SearchStrategy, given: QueryBuilderInput
    ) -> list[ConceptBlock]:
        """Return the blocks that a person set, or those of the model with those that feedback and papers taught."""
        last = given.previous_strategies[-1:]
        if any(origin.part == "blocks" and origin.by_person for strategy in last for origin in strategy.origins):
            return by_rule.blocks
        made = [
            make_block(name, self._vocabulary, clean_texts(block.variants), reason="named by the language model")
            for block in proposed
            for name in clean_texts([block.name])
            if not all(map(is_generic, split_words(name)))
        ]
        if not (own := add_missing_blocks([], made)[:MAX_BLOCKS]):
            return []
        own = add_missing_blocks(own, [block for block in by_rule.blocks if block.learned or not block.active])
        accepted = given.user_feedback.use_suggestions if given.user_feedback else False
        return accept_suggestions(own, select_accepted(given.suggestions, accepted), self._vocabulary)
