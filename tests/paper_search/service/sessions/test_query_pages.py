"""Pages of the queries of a strategy: every query once and whole, as many as fit into a reply."""

from itertools import pairwise

from paper_search.models import SearchQuery, SearchStrategy
from paper_search.service.reply_parts import count_json_bytes
from paper_search.service.review.paper_pages import build_query_page

PAGE_BYTES = 24_000


def make_strategy(*texts: str) -> SearchStrategy:
    return SearchStrategy(queries=[SearchQuery(keywords=[], boolean_query=text) for text in texts], sources=["alpha"])


def test_all_pages_together_have_every_query_once_and_each_fits_into_a_reply() -> None:
    texts = [f"moon{number} OR {'tides OR ' * 500}water" for number in range(20)]
    strategy = make_strategy(*texts)
    pages = [build_query_page("s", strategy, 0)]
    while (address := pages[-1].next) is not None:
        begin, _, offset = address.rpartition("/")
        assert begin == "paper-search://sessions/s/queries"
        pages.append(build_query_page("s", strategy, int(offset)))
    assert len(pages) > 2
    assert [query.boolean_query for page in pages for query in page.queries] == texts
    assert all(page.total_queries == 20 for page in pages)
    for page, after in pairwise(pages):
        assert after.offset == page.offset + len(page.queries)
        length = sum(map(count_json_bytes, page.queries))
        assert length <= PAGE_BYTES < length + count_json_bytes(after.queries[0])


def test_a_query_longer_than_a_reply_has_a_page_of_its_own_and_is_cut_after_20000_characters() -> None:
    strategy = make_strategy("ü" * 20_000, "ü" * 20_001, "last")
    first = build_query_page("s", strategy, 0)
    assert [query.boolean_query for query in first.queries] == ["ü" * 20_000]
    second = build_query_page("s", strategy, 1)
    assert [query.boolean_query for query in second.queries] == ["ü" * 19_999 + "…"]
    third = build_query_page("s", strategy, 2)
    assert ([query.boolean_query for query in third.queries], third.next) == (["last"], None)


def test_of_many_concepts_20_names_are_listed() -> None:
    query = SearchQuery(keywords=[], boolean_query="x", blocks=["b" * 101, *(f"block{n}" for n in range(20))], rung=1)
    (listed,) = build_query_page("s", SearchStrategy(queries=[query], sources=[]), 0).queries
    assert listed.rung == 1
    assert listed.blocks == ["b" * 99 + "…", *(f"block{n}" for n in range(19))]
