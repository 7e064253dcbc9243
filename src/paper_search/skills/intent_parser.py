"""Skill: read a query, with a language model if one is configured, otherwise by rule."""

import asyncio

from paper_search.domain.field_profiles import get_domain
from paper_search.domain.intent.concepts import MAX_CONCEPTS
from paper_search.domain.intent.intent_reader import read_intent
from paper_search.domain.intent.reading import correct_limits
from paper_search.domain.intent.text_cleanup import cut_and_normalise_characters
from paper_search.domain.intent.vocabulary import Vocabulary
from paper_search.domain.query.identifier_queries import read_identifiers
from paper_search.models import ParsedIntent, SearchConstraints
from paper_search.service.llm.provider import MAX_TEXT_CHARS, LLMProvider, ask_model, clean_texts
from uraniborg.kernel.clock import Clock, SystemClock
from uraniborg.kernel.language.publication_years import describe_years


class IntentParser:
    """Reads a query as a ParsedIntent. Raises UnknownDomain for an unknown domain."""

    def __init__(self, llm: LLMProvider | None = None, domain: str = "general", clock: Clock | None = None) -> None:
        self._llm = llm
        self._domain = get_domain(domain)
        self._vocabulary = Vocabulary(self._domain.synonyms)
        self._clock = clock or SystemClock()

    async def parse(self, user_input: str) -> ParsedIntent:
        """Return the intent of the text; `notes` say how it was read. Never raises: rules replace a failing model."""
        by_rule = await asyncio.to_thread(read_intent, user_input, self._vocabulary, self._clock.now().date())
        if self._llm is None or by_rule.typed_query or read_identifiers(by_rule.topic):
            return by_rule
        by_model, problem = await ask_model(self._llm, "read_query", self._domain, {"query": user_input}, ParsedIntent)
        if by_model is None:
            return by_rule.model_copy(update={"notes": [f"{problem}, so the query was read by rule.", *by_rule.notes]})
        return self._combine_readings(by_model, by_rule)

    def _combine_readings(self, by_model: ParsedIntent, by_rule: ParsedIntent) -> ParsedIntent:
        """Return the model's reading within limits, with the numbers and quotes of the query as the rules read them."""
        limits, notes = correct_limits(by_model.constraints, self._clock.now().date())
        stated = limits.model_dump(include={"year_from", "year_to", "language"})
        if "max_results" in by_rule.constraints.model_fields_set:
            stated["max_results"] = by_rule.constraints.max_results
        if limits.year_from is not None or limits.year_to is not None:
            notes.append(f"Limited to papers {describe_years(limits.year_from, limits.year_to)}.")
        return ParsedIntent(
            topic=cut_and_normalise_characters(by_model.topic)[:MAX_TEXT_CHARS] or by_rule.topic,
            concepts=clean_texts(by_model.concepts)[:MAX_CONCEPTS] or by_rule.concepts,
            intent_type=by_model.intent_type,
            constraints=SearchConstraints(**stated),
            phrases=clean_texts([*by_rule.phrases, *by_model.phrases]),
            authors=clean_texts(by_model.authors),
            venues=clean_texts(by_model.venues),
            excluded=clean_texts(by_model.excluded),
            preferences=clean_texts(by_model.preferences) or by_rule.preferences,
            notes=["The query was read by a language model.", *notes],
        )
