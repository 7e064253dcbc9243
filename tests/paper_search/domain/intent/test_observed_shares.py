"""Blocks become more or less specific by what the sources counted."""

from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from paper_search.domain.intent.strategy_planner import describe_new_order, observe_shares
from paper_search.domain.query.ladder import compose_ladder
from paper_search.domain.query.query_texts import select_queries
from paper_search.models import (
    ConceptBlock,
    QueryReport,
    RoundLog,
    SearchStrategy,
    SourceReport,
    SourceStatus,
    StopReason,
)

NAMES = ("moss", "lichen", "copper")
ALIKE = [ConceptBlock(name=name, variants=[name], share=0.001) for name in NAMES]
Counts = Mapping[frozenset[str], int]
COPPER_IS_RARE: Counts = {
    frozenset(("moss", "lichen")): 700,
    frozenset(("moss", "copper")): 9,
    frozenset(("lichen", "copper")): 5,
}


def make_log(blocks: list[ConceptBlock], counts: Counts, kind: str = "boolean") -> RoundLog:
    """Return the log of a round in which one source counted the matches of pairs, and 1 for other queries."""
    strategy = SearchStrategy(queries=compose_ladder(blocks), sources=["alpha"], blocks=blocks)
    reports = [
        QueryReport(
            text=query.boolean_query,
            rung=query.rung,
            found=counts.get(frozenset(query.blocks), 1),
            stopped=StopReason.COMPLETE,
        )
        for query in select_queries("ranked" if kind == "ranked" else "boolean", strategy.queries)
    ]
    report = SourceReport(name="alpha", status=SourceStatus.OK, queries=reports)
    return RoundLog(round=0, strategy=strategy, sources=[report])


def get_shares(blocks: list[ConceptBlock]) -> dict[str, float]:
    return {block.name: block.share or 0.0 for block in blocks}


def test_the_block_whose_pairs_match_few_papers_becomes_the_most_specific() -> None:
    observed = observe_shares(ALIKE, make_log(ALIKE, COPPER_IS_RARE))
    shares = get_shares(observed)
    assert shares["copper"] < shares["lichen"] <= shares["moss"]
    assert describe_new_order(ALIKE, observed) == [
        "By the counts of the sources, the concepts from the most specific one on are: “copper”, “lichen”, “moss”."
    ]


def test_counts_that_agree_with_the_estimates_change_no_order() -> None:
    log = make_log(ALIKE, dict.fromkeys(COPPER_IS_RARE, 40))
    observed = observe_shares(ALIKE, log)
    assert set(get_shares(observed).values()) == {0.001}
    assert describe_new_order(ALIKE, observed) == []


def test_without_counts_the_estimates_stay() -> None:
    assert observe_shares(ALIKE, make_log(ALIKE, COPPER_IS_RARE, kind="ranked")) == ALIKE
    assert observe_shares(ALIKE, RoundLog(round=0, strategy=SearchStrategy(queries=[], sources=[]))) == ALIKE


def test_words_of_blocks_are_not_counted_as_the_blocks() -> None:
    blocks = [
        ConceptBlock(name=name, variants=[name], share=0.001, word_shares=dict.fromkeys(name.split(), 0.01))
        for name in ("light therapy", "jet lag")
    ]
    log = make_log(blocks, {frozenset(("light therapy", "jet lag")): 30})
    words = [one for query, one in zip(log.strategy.queries, log.sources[0].queries, strict=False) if query.rung > 1]
    assert words
    for one in words:
        one.found = 20_000
    assert get_shares(observe_shares(blocks, log)) == {"light therapy": 0.001, "jet lag": 0.001}


def test_learned_blocks_keep_their_shares() -> None:
    learned = ConceptBlock(name="violin", variants=["violin"], share=0.2, learned=True)
    blocks = [*ALIKE, learned]
    assert observe_shares(blocks, make_log(blocks, COPPER_IS_RARE))[-1] == learned


@given(st.lists(st.integers(0, 10**9), min_size=3, max_size=3), st.lists(st.floats(0.0001, 1), min_size=3, max_size=3))
def test_shares_stay_shares_for_any_counts(found: list[int], shares: list[float]) -> None:
    blocks = [block.model_copy(update={"share": share}) for block, share in zip(ALIKE, shares, strict=True)]
    observed = observe_shares(blocks, make_log(blocks, dict(zip(COPPER_IS_RARE, found, strict=True))))
    assert [block.name for block in observed] == list(NAMES)
    assert all(0.0001 <= share <= 1 for share in get_shares(observed).values())
