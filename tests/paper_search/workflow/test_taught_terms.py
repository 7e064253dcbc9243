"""What results and marks teach: a second pass without a person, suggestions and changed blocks with one."""

from paper_search.models import ConceptBlock, PaperCollection, RawPaper
from paper_search.testing import FakeSource, ScriptedDecisions
from tests.paper_search.workflow.runs import (
    APPROVE,
    MOONS,
    QUERY,
    REJECT,
    get_strategy,
    make_edit,
    make_reject,
    make_workflow,
)
from tests.paper_search.workflow.samples import make_record

TAUGHT = [
    make_record(f"Tidal heating of icy moons and obliquity of orbit {letter}", doi=f"10.1/{letter}")
    for letter in "abcdef"
]
BREAD = [make_record(f"Sourdough and tidal power {letter}", doi=f"10.2/{letter}") for letter in "abc"]
SECOND_PASS = "Second pass"


def list_second_pass_notes(result: PaperCollection) -> list[str]:
    return [note for note in result.metadata.notes if note.startswith(SECOND_PASS)]


def dump_blocks(blocks: list[ConceptBlock]) -> list[dict[str, object]]:
    return [block.model_dump(mode="json") for block in blocks]


async def search_alone(papers: list[RawPaper], query: str = QUERY) -> tuple[PaperCollection, FakeSource]:
    source = FakeSource("alpha", papers)
    return await make_workflow(None, [source]).run(query), source


async def test_a_search_without_a_person_makes_one_second_pass_with_the_taught_terms_and_names_it() -> None:
    result, source = await search_alone([*MOONS, *TAUGHT])
    assert len(source.asked) == 2
    first, second = (log.strategy for log in result.metadata.round_logs)
    assert not any(block.learned for block in first.blocks)
    learned = {block.name: block.reason for block in second.blocks if block.learned}
    assert learned["obliquity"] == "in 6 of the 9 best papers"
    assert any("obliquity" in query.boolean_query for query in source.asked[1].queries)
    assert any("“obliquity”" in note for note in list_second_pass_notes(result))
    assert not any(note.startswith(SECOND_PASS) for note in first.notes)


async def test_without_taught_terms_there_is_no_second_pass() -> None:
    result, source = await search_alone([])
    assert len(source.asked) == 1
    assert list_second_pass_notes(result) == []


async def test_a_typed_query_has_no_second_pass() -> None:
    result, source = await search_alone([*MOONS, *TAUGHT], "icy moons AND tidal heating")
    assert len(source.asked) == 1
    assert result.metadata.round_logs[0].strategy.blocks == []


async def test_a_search_of_one_round_has_no_second_pass() -> None:
    source = FakeSource("alpha", [*MOONS, *TAUGHT])
    await make_workflow(None, [source], max_iterations=1).run(QUERY)
    assert len(source.asked) == 1


async def test_a_person_sees_suggestions_and_only_an_edit_uses_them() -> None:
    handler = ScriptedDecisions([APPROVE, REJECT, APPROVE, APPROVE])
    source = FakeSource("alpha", [*MOONS, *TAUGHT])
    await make_workflow(handler, [source]).run(QUERY)
    plan = get_strategy(handler, 2)
    assert ("obliquity", "in 6 of the 9 best papers") in [(entry.term, entry.reason) for entry in plan.suggestions]
    assert not any(block.learned for block in plan.blocks)
    assert not any("obliquity" in query.boolean_query + query.words for query in source.asked[1].queries)
    accepted = ConceptBlock(name="obliquity", variants=["obliquity"], learned=True, reason="accepted")
    edit = make_edit(blocks=dump_blocks([*plan.blocks, accepted]))
    handler = ScriptedDecisions([APPROVE, REJECT, edit, APPROVE])
    source = FakeSource("alpha", [*MOONS, *TAUGHT])
    await make_workflow(handler, [source]).run(QUERY)
    assert any("obliquity" in query.blocks for query in source.asked[1].queries)


async def test_a_person_s_blocks_stay_and_the_queries_composed_of_them_are_not_the_person_s() -> None:
    handler = ScriptedDecisions([APPROVE, APPROVE])
    await make_workflow(handler).run(QUERY)
    tidal, moons = get_strategy(handler, 0).blocks
    changed = [
        tidal.model_copy(update={"active": False}),
        moons.model_copy(update={"variants": ["icy moons", "Europa"]}),
    ]
    edit = make_edit(blocks=dump_blocks(changed))
    handler = ScriptedDecisions([edit, REJECT, APPROVE, make_reject(free_text_feedback="no rings"), APPROVE, APPROVE])
    source = FakeSource("alpha", MOONS)
    result = await make_workflow(handler, [source]).run(QUERY)
    for asked in source.asked:
        assert asked.blocks == changed
        assert any("Europa" in query.boolean_query for query in asked.queries)
        assert not any("tidal" in query.boolean_query + query.words for query in asked.queries if query.rung == 0)
    for log in result.metadata.round_logs:
        by_person = {origin.part for origin in log.strategy.origins if origin.by_person}
        assert "blocks" in by_person
        assert not any(part.startswith("queries") for part in by_person)
    assert all("NOT (rings OR ring)" in query.boolean_query for query in source.asked[2].queries)


async def test_marks_teach_terms_with_true_counts_and_exclude_nothing() -> None:
    decisions = dict.fromkeys([paper.id for paper in TAUGHT], "include") | dict.fromkeys(
        [paper.id for paper in BREAD], "exclude"
    )
    handler = ScriptedDecisions([APPROVE, make_reject(decisions=decisions), APPROVE, APPROVE])
    source = FakeSource("alpha", [*MOONS, *TAUGHT, *BREAD])
    await make_workflow(handler, [source]).run(QUERY)
    plan = get_strategy(handler, 2)
    learned = {block.name: block.reason for block in plan.blocks if block.learned}
    assert learned["obliquity"] == "in 6 of 6 included papers and 0 of 3 excluded"
    assert "Added: “obliquity” (in 6 of 6 included papers and 0 of 3 excluded)." in plan.notes
    assert not any("NOT" in query.boolean_query or "-" in query.words for query in plan.queries)
    assert not any("sourdough" in (query.boolean_query + query.words).casefold() for query in plan.queries)
