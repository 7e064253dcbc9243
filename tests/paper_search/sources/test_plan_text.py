"""A plan in words names its concepts, what the results suggest, every query with its rung, and the sources."""

from typing import Any, cast

from paper_search.cli.review_text import format_strategy
from paper_search.models import (
    ConceptBlock,
    IntentType,
    ParsedIntent,
    PartOrigin,
    SearchQuery,
    SearchStrategy,
    TermSuggestion,
)
from paper_search.service.sessions.checkpoint_payloads import format_payload
from paper_search.sources.query_translation import describe_plan

PLAN = SearchStrategy(
    queries=[
        SearchQuery(keywords=[], boolean_query='"shift work" AND sleep', rung=0),
        SearchQuery(keywords=[], boolean_query="", words="shift work sleep", rung=0),
        SearchQuery(keywords=[], boolean_query="shift AND sleep", rung=1),
    ],
    sources=["semantic_scholar", "library"],
    blocks=[
        ConceptBlock(name="shift work", variants=["shift work", "night work"], reason="from the question"),
        ConceptBlock(name="sleep", variants=["sleep"], active=False, reason="from the question"),
    ],
    suggestions=[TermSuggestion(term="melatonin", reason="in 14 of the 20 best papers", block="sleep")],
    origins=[
        PartOrigin(part="queries[0]", value="of the ladder", inherited=False, reason="follows from the question"),
        PartOrigin(part="sources", value="semantic_scholar, library", inherited=True, reason="chosen"),
        PartOrigin(part="year_from", value="2016", inherited=False, reason="set by a person in round 1"),
    ],
)


def test_a_plan_names_concepts_suggestions_queries_with_their_rungs_and_sources_as_people_know_them() -> None:
    assert list(describe_plan(PLAN)) == [
        ("concept", "shift work OR night work (from the question)"),
        ("concept", "sleep (off, from the question)"),
        ("suggest", "melatonin (in 14 of the 20 best papers, joins sleep)"),
        ("query", 'rung 1: "shift work" AND sleep'),
        ("query", "rung 1: shift work sleep (words for ranking sources)"),
        ("query", "rung 2: shift AND sleep"),
        ("sources", "Semantic Scholar, Your shelf"),
    ]


def test_a_typed_query_is_shown_alone_and_no_source_means_all() -> None:
    typed = SearchStrategy(queries=[SearchQuery(keywords=[], boolean_query="moss AND salt")], sources=[])
    assert list(describe_plan(typed)) == [("query", "moss AND salt"), ("sources", "all")]


def test_a_review_at_the_terminal_and_the_inbox_show_the_whole_plan() -> None:
    intent = ParsedIntent(topic="shift work and sleep", concepts=["shift work"], intent_type=IntentType.SURVEY)
    at_terminal = format_strategy(intent, PLAN, 120)
    in_inbox = "\n".join(format_payload(cast("Any", {"strategy": PLAN.model_dump(mode="json")})))
    for _, text in describe_plan(PLAN):
        assert text in at_terminal
        assert text in in_inbox
    assert "2016 (set by a person in round 1)" in at_terminal
    assert "inherited  Semantic Scholar, Your shelf" in at_terminal
    assert "of the ladder" not in at_terminal


def make_strategy_plan(query: str) -> SearchStrategy:
    queries = [SearchQuery(keywords=[], boolean_query=query)]
    return SearchStrategy(queries=queries, sources=["pubmed", "openalex", "crossref"], notes=["Added: “tophi”."])


def test_a_plan_of_a_strategy_says_what_each_source_changes() -> None:
    changed = [text for name, text in describe_plan(make_strategy_plan('"Gout"[Mesh]')) if name == "changed"]
    assert changed == [
        'OpenAlex: MeSH headings are searched as words, without narrower headings: "Gout"[Mesh].',
        "Crossref: Only the words are sent, without operators and fields.",
    ]
    assert "changed" not in dict(describe_plan(make_strategy_plan("gout AND cherries")))


def test_the_inbox_shows_the_changes_of_the_sources_and_the_notes_of_a_plan() -> None:
    lines = format_payload(cast("Any", {"strategy": make_strategy_plan('"Gout"[Mesh]').model_dump(mode="json")}))
    assert any(line.startswith("changed  OpenAlex: MeSH headings") for line in lines)
    assert "note     Added: “tophi”." in lines
