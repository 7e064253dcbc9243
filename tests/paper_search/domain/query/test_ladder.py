"""The ladder of queries, and blocks and queries that stay in step when a person edits one of them."""

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paper_search.domain.query.ladder import (
    MOST_LEARNED,
    align_blocks_and_queries,
    build_block_condition,
    compose_ladder,
)
from paper_search.domain.query.query_texts import format_query, parse_phrase
from paper_search.domain.strategies.plain_words import parse_query
from paper_search.models import ConceptBlock, SearchQuery, SearchStrategy, TermSuggestion
from uraniborg.kernel.language.boolean_query import AllOf, AnyOf, Node, Term
from uraniborg.kernel.language.words import split_words

ALONE = 0.0005


def make_block(name: str, *others: str, **fields: object) -> ConceptBlock:
    return ConceptBlock.model_validate({"name": name, "variants": [name, *others], "share": 0.001} | fields)


def list_booleans(queries: Sequence[SearchQuery]) -> list[str]:
    return [query.boolean_query for query in queries if query.boolean_query]


def list_words(queries: Sequence[SearchQuery]) -> list[str]:
    return [query.words for query in queries if query.words]


def is_excluding(text: str, node: Node) -> bool:
    tree = parse_query(text)
    return isinstance(tree, AllOf) and node in tree.excluded


def has_share_below(block: ConceptBlock, most: float) -> bool:
    return block.share is not None and block.share <= most


WORDS = ["glacier", "moss", "beetle", "copper", "violin", "harbour", "lichen", "tundra", "pollen", "quartz", "sparrow"]
NAMES = st.one_of(st.sampled_from(WORDS), st.lists(st.sampled_from(WORDS), min_size=2, max_size=3).map(" ".join))


@st.composite
def draw_blocks(draw: st.DrawFn) -> list[ConceptBlock]:
    names = draw(st.lists(NAMES, min_size=1, max_size=7, unique_by=lambda name: tuple(sorted(set(name.split())))))
    return [
        ConceptBlock(
            name=name,
            variants=[
                name,
                *draw(st.lists(st.sampled_from(["isle", "reef two", "fjord-side"]), max_size=3, unique=True)),
            ],
            active=draw(st.booleans()),
            learned=draw(st.booleans()),
            exact=draw(st.booleans()),
            share=draw(st.none() | st.floats(0, 1)),
            word_shares={word: draw(st.floats(0, 1)) for word in name.split()},
        )
        for name in names
    ]


@settings(deadline=None, max_examples=150)
@given(draw_blocks(), st.lists(st.sampled_from(["rodent", "in vitro"]), unique=True))
def test_a_ladder_is_strict_first_and_each_query_requires_blocks_that_carry_it(
    blocks: list[ConceptBlock], excluded: list[str]
) -> None:
    nodes = [node for text in excluded if (node := parse_phrase(text))]
    titles = ["words of a title", "words of another title"]
    queries = compose_ladder(blocks, nodes, "all words of the question", titles)
    by_name = {block.name: block for block in blocks}
    active = {block.name for block in blocks if block.active}
    asked = [block for block in blocks if block.active and not block.learned]
    learned = {block.name for block in blocks if block.active and block.learned}
    assert all(before.rung <= after.rung for before, after in pairwise(queries))
    assert len(set(list_booleans(queries))) == len(list_booleans(queries))
    assert len({tuple(split_words(text)) for text in list_words(queries)}) == len(list_words(queries))
    for query in queries:
        assert bool(query.boolean_query) != bool(query.words)
        tree = parse_query(query.boolean_query or query.words)
        assert tree is not None
        assert all(is_excluding(query.boolean_query or query.words, node) for node in nodes)
        assert set(query.blocks) <= active
        if not query.boolean_query:
            continue
        assert len(set(query.blocks)) > 1 or (
            query.blocks and (len(asked) == 1 or has_share_below(by_name[query.blocks[0]], ALONE))
        )
        assert len(learned & set(query.blocks)) <= 2
        if len(query.blocks) > 1:
            assert isinstance(tree, AllOf)
            assert len(tree.parts) >= 2 or len({name.split()[0] for name in query.blocks}) == 1
    if asked:
        rarest = min(asked, key=lambda block: 0.01 if block.share is None else block.share)
        of_question = [query for query in queries if query.boolean_query and not learned & set(query.blocks)]
        for rung in {query.rung for query in of_question}:
            assert any(rarest.name in query.blocks for query in of_question if query.rung == rung)


def test_blocks_that_are_switched_off_are_in_no_query() -> None:
    queries = compose_ladder([make_block("moss"), make_block("copper"), make_block("violin", active=False)])
    assert queries
    assert not any("violin" in (query.boolean_query + query.words) for query in queries)


def test_learned_blocks_meet_the_question_and_one_another_in_pairs_only() -> None:
    learned = [make_block(f"term{number}", learned=True) for number in range(20)]
    queries = compose_ladder([make_block("moss"), make_block("copper"), *learned])
    first = [query for query in queries if query.boolean_query and query.rung == 0]
    assert first
    assert all(len(query.blocks) == 2 for query in first)
    assert {name for query in queries for name in query.blocks if name.startswith("term")} <= {
        block.name for block in learned[:MOST_LEARNED]
    }


@pytest.mark.parametrize(("count", "alone"), [(2, False), (3, True)])
def test_words_of_learned_blocks_alone_are_a_query_only_if_there_are_several(count: int, alone: bool) -> None:
    learned = [make_block(f"term{number}", learned=True) for number in range(count)]
    words = list_words(compose_ladder([make_block("moss"), *learned]))
    names = " ".join(block.name for block in learned)
    assert words[0] == f"moss {names}"
    assert (names in words) == alone


def test_a_common_block_never_stands_alone_beside_others_and_a_rare_one_does() -> None:
    common = compose_ladder([make_block("moss", share=0.01), make_block("copper", share=0.02)])
    assert not {"moss", "copper"} & set(list_booleans(common))
    rare = compose_ladder([make_block("moss", share=0.0001), make_block("copper", share=0.02)])
    assert list_booleans(rare)[-1] == "moss"
    assert "copper" not in list_booleans(rare)


def test_a_loose_condition_lets_words_stand_apart_except_those_of_a_quoted_phrase() -> None:
    loose = build_block_condition(make_block("black ice"), is_loose=True)
    exact = build_block_condition(make_block("black ice", exact=True), is_loose=True)
    assert loose == AllOf((Term(("black",)), Term(("ice",))))
    assert exact == parse_phrase("black ice")


def test_a_loose_condition_does_not_drop_the_meaning_of_a_hyphenated_word() -> None:
    condition = build_block_condition(make_block("off-target"), is_loose=True)
    assert condition is not None
    assert format_query(condition) == '"off-target"'


def test_exclusions_are_written_with_a_minus_in_words() -> None:
    nodes = [node for text in ("rodent", "in vitro") if (node := parse_phrase(text))]
    (first, second) = list_words(compose_ladder([make_block("moss"), make_block("copper")], nodes, "moss on copper"))
    assert first == 'moss copper -rodent -"in vitro"'
    assert second == 'moss on copper -rodent -"in vitro"'


EXCLUDED = [node for text in ("rodent", "in vitro") if (node := parse_phrase(text))]
BLOCKS = [
    make_block("black ice", "glaze ice", share=0.0001),
    make_block("roads", "road", share=0.002),
    make_block("salt", share=0.004),
]


def make_strategy(blocks: list[ConceptBlock] = BLOCKS, excluded: Sequence[Node] = EXCLUDED) -> SearchStrategy:
    return SearchStrategy(
        queries=compose_ladder(blocks, excluded, "salt against black ice on roads"), sources=["alpha"], blocks=blocks
    )


def edit_blocks(blocks: list[ConceptBlock]) -> SearchStrategy:
    proposed = make_strategy()
    return align_blocks_and_queries(proposed, proposed.model_copy(update={"blocks": blocks}))


@settings(deadline=None, max_examples=50)
@given(draw_blocks())
def test_a_strategy_that_was_not_edited_stays_the_same(blocks: list[ConceptBlock]) -> None:
    proposed = make_strategy(blocks)
    assert align_blocks_and_queries(proposed, proposed) == proposed


def test_a_block_that_is_switched_off_leaves_every_query_and_the_exclusions_stay() -> None:
    edited = edit_blocks([*BLOCKS[:2], BLOCKS[2].model_copy(update={"active": False})])
    searched = [(query.boolean_query, query.words) for query in edited.queries]
    expected = compose_ladder(BLOCKS[:2], EXCLUDED, "against black ice on roads")
    assert searched == [(query.boolean_query, query.words) for query in expected]
    assert not any("salt" in text for texts in searched for text in texts)
    assert all(is_excluding(query.boolean_query or query.words, node) for query in edited.queries for node in EXCLUDED)


def test_a_block_that_is_switched_on_again_restores_the_queries() -> None:
    off = edit_blocks([*BLOCKS[:2], BLOCKS[2].model_copy(update={"active": False})])
    on = align_blocks_and_queries(off, off.model_copy(update={"blocks": BLOCKS}))
    assert on.queries == make_strategy().queries


def test_a_block_that_is_removed_leaves_every_query_and_so_do_its_words_in_the_question() -> None:
    edited = edit_blocks(BLOCKS[:2])
    assert edited.queries
    assert not any("salt" in (query.boolean_query + query.words) for query in edited.queries)
    assert "against black ice on roads" in " ".join(list_words(edited.queries))


@pytest.mark.parametrize("name", ["black ice", "glaze"], ids=["the name stays", "named by the next variant"])
def test_the_name_of_a_block_leaves_every_query_with_the_variant_that_says_the_same(name: str) -> None:
    first = BLOCKS[0].model_copy(
        update={"name": name, "variants": ["glaze"], "word_shares": {"black": 0.001, "ice": 0.001}}
    )
    edited = edit_blocks([first, *BLOCKS[1:]])
    texts = [query.boolean_query + query.words for query in edited.queries]
    assert not any(word in text.split() for text in texts for word in ("black", "ice"))
    assert any("glaze" in text for text in list_words(edited.queries))


def test_a_name_of_several_variants_keeps_the_words_of_those_that_are_left() -> None:
    whole = make_block("salt or brine or sand").model_copy(update={"variants": ["salt", "brine", "sand"]})
    assert list_words(compose_ladder([whole]))[0] == "salt brine sand"
    assert list_words(compose_ladder([whole.model_copy(update={"variants": ["salt", "sand"]})]))[0] == "salt sand"


def test_a_removed_variant_leaves_every_query() -> None:
    assert any("glaze" in text for text in list_booleans(make_strategy().queries))
    edited = edit_blocks([BLOCKS[0].model_copy(update={"variants": ["black ice"]}), *BLOCKS[1:]])
    assert not any("glaze" in (query.boolean_query + query.words) for query in edited.queries)


def test_a_suggestion_is_accepted_as_a_variant_or_as_a_block() -> None:
    as_variant = edit_blocks([BLOCKS[0].model_copy(update={"variants": ["black ice", "verglas"]}), *BLOCKS[1:]])
    assert list_booleans(as_variant.queries)[0].startswith('("black ice" OR verglas) AND (roads OR road) AND salt AND')
    as_block = edit_blocks([*BLOCKS, make_block("verglas", learned=True)])
    pairs = {frozenset(query.blocks) for query in as_block.queries if "verglas" in query.blocks and query.boolean_query}
    assert pairs == {frozenset({"verglas", block.name}) for block in BLOCKS}
    assert "verglas" in list_words(as_block.queries)[0]


def test_a_suggestion_that_an_edit_uses_is_no_longer_one() -> None:
    proposed = make_strategy().model_copy(
        update={
            "suggestions": [TermSuggestion(term=term, reason="in 9 of 20") for term in ("verglas", "brine", "grit")]
        }
    )
    blocks = [BLOCKS[0].model_copy(update={"variants": ["black ice", "Brine"]}), *BLOCKS[1:], make_block("verglas")]
    edited = align_blocks_and_queries(proposed, proposed.model_copy(update={"blocks": blocks}))
    assert [one.term for one in edited.suggestions] == ["grit"]


def test_edited_queries_stay_as_typed_and_give_the_blocks() -> None:
    proposed = make_strategy()
    typed = SearchQuery(keywords=[], boolean_query='("black ice" OR  verglas) AND brine')
    edited = align_blocks_and_queries(proposed, proposed.model_copy(update={"queries": [typed]}))
    assert edited.queries == [typed]
    assert [(block.name, block.active) for block in edited.blocks] == [
        ("black ice", True),
        ("roads", False),
        ("salt", False),
        ("brine", True),
    ]
    assert edited.blocks[0].variants == ["black ice", "verglas"]
    assert edited.blocks[3].reason == "written in a query"


@pytest.mark.parametrize(
    ("text", "variants"), [("ice AND brine", ["ice"]), ("black AND ice AND brine", ["black ice", "glaze ice"])]
)
def test_a_block_of_which_an_edited_query_keeps_one_word_has_that_word_as_its_variant(
    text: str, variants: list[str]
) -> None:
    proposed = make_strategy()
    typed = SearchQuery(keywords=[], boolean_query=text)
    edited = align_blocks_and_queries(proposed, proposed.model_copy(update={"queries": [typed]}))
    assert edited.blocks[0].active
    assert edited.blocks[0].variants == variants


@pytest.mark.parametrize("blocks", [[], BLOCKS])
def test_typed_queries_have_no_blocks_unless_a_person_sends_them(blocks: list[ConceptBlock]) -> None:
    proposed = SearchStrategy(queries=[SearchQuery(keywords=[], boolean_query="moss")], sources=[])
    changed = proposed.model_copy(
        update={"queries": [SearchQuery(keywords=[], boolean_query="moss AND salt")], "blocks": blocks}
    )
    edited = align_blocks_and_queries(proposed, changed)
    assert edited == changed


def test_no_query_is_a_disjunction_of_loose_words() -> None:
    for text in list_booleans(make_strategy().queries):
        tree = parse_query(text)
        assert not (isinstance(tree, AnyOf) and {"black", "ice", "salt"} & {format_query(part) for part in tree.parts})
