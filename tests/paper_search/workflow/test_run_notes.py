"""The notes of a search are true of the strategy that ran."""

from typing import Any

import pytest

from paper_search.models import PaperCollection
from paper_search.testing import ScriptedDecisions
from paper_search.workflow import StrategyPayload
from tests.paper_search.workflow.runs import APPROVE, make_edit, make_reject, make_workflow

QUESTION = "tidal heating by Peale, not about Enceladus, since 2005"
EXCLUDED = "Papers about “Enceladus” are excluded."
AUTHOR = "“Peale” was read as an author."
YEARS = "“since 2005” was read as published in 2005 or later."


def make_queries(*texts: str) -> list[dict[str, Any]]:
    return [{"boolean_query": text, "keywords": []} for text in texts]


async def run_edited(**changes: Any) -> PaperCollection:
    return await make_workflow(ScriptedDecisions([make_edit(**changes), APPROVE])).run(QUESTION)


async def test_the_notes_of_a_strategy_as_proposed_say_how_the_question_was_read() -> None:
    notes = (await make_workflow(ScriptedDecisions([APPROVE, APPROVE])).run(QUESTION)).metadata.notes
    assert {EXCLUDED, AUTHOR, YEARS} <= set(notes)
    assert any("without a year are kept" in note for note in notes)


async def test_an_exclusion_that_a_person_deletes_is_in_no_note_of_the_result_or_a_later_plan() -> None:
    edit = make_edit(queries=make_queries("tidal AND heating"))
    handler = ScriptedDecisions([edit, make_reject(free_text_feedback="more on orbits"), APPROVE, APPROVE])
    result = await make_workflow(handler).run(QUESTION)
    later = handler.seen[2].payload
    assert isinstance(later, StrategyPayload)
    for notes in (handler.seen[1].payload.collection.metadata.notes, later.intent.notes, result.metadata.notes):  # pyright: ignore[reportOptionalMemberAccess]
        assert not [note for note in notes if "Enceladus" in note or "Peale" in note], notes


async def test_an_exclusion_that_one_query_does_not_have_is_not_stated() -> None:
    queries = make_queries("tidal AND heating NOT Enceladus", "tidal AND dissipation")
    assert EXCLUDED not in (await run_edited(queries=queries)).metadata.notes


async def test_an_exclusion_that_a_person_adds_or_keeps_is_stated() -> None:
    queries = make_queries(*(f"tidal AND {word} NOT Enceladus NOT Io" for word in ("heating", "flexing")))
    notes = (await run_edited(queries=queries)).metadata.notes
    assert {EXCLUDED, "Papers about “Io” are excluded."} <= set(notes)


@pytest.mark.parametrize(
    ("filters", "stated"),
    [
        ({"year_from": 1990}, "Limited to papers published in 1990 or later."),
        ({"year_from": None}, None),
        ({"year_from": None, "language": "fr"}, "Limited to papers in French."),
    ],
)
async def test_edited_limits_replace_the_notes_on_those_of_the_question(
    filters: dict[str, Any], stated: str | None
) -> None:
    notes = (await run_edited(filters=filters)).metadata.notes
    assert YEARS not in notes
    assert stated is None or stated in notes
    assert any("without a year" in note for note in notes) == bool(filters["year_from"])


async def test_an_edit_of_the_sources_alone_keeps_the_notes() -> None:
    assert {EXCLUDED, AUTHOR, YEARS} <= set((await run_edited(sources=["alpha"])).metadata.notes)
