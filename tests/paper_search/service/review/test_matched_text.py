"""Foreign text as trees, with matched words."""

import pytest

from paper_search.models import SearchQuery
from paper_search.service.review.matched_text import TermMatcher, build_text_tree


def make_matcher(*queries: str) -> TermMatcher:
    return TermMatcher(SearchQuery(keywords=[], boolean_query=query) for query in queries)


def join_matched(text: str, *queries: str) -> list[str]:
    return [node["text"] for node in build_text_tree(text, make_matcher(*queries)) if node.get("matched")]


def test_words_match_in_any_inflection_and_phrases_as_a_whole() -> None:
    text = "Dynamical stability of moons: a stable Moon, and stability that is dynamical."
    assert join_matched(text, '"dynamical stability" AND moon') == ["Dynamical stability", "moons", "Moon"]


def test_wildcards_match_beginnings_and_excluded_words_are_not_marked() -> None:
    assert join_matched("Exomoons and rings", "exomoo* NOT ring") == ["Exomoons"]


def test_the_text_of_the_nodes_is_the_text() -> None:
    text = "A <b>moon</b> of $M_m \\lesssim 0.4$ and H<sub>2</sub>O, <script>alert(1)</script> for $5 and $10."
    nodes = build_text_tree(text, make_matcher("moon"))
    kinds = [node["kind"] for node in nodes]
    assert kinds == ["text", "bold", "text", "math", "text", "sub", "text"]
    assert nodes[1]["children"] == [
        {"kind": "text", "text": "moon", "matched": True, "latex": None, "block": None, "children": None}
    ]
    assert nodes[3]["latex"] == "M_m \\lesssim 0.4"
    assert nodes[-1]["text"] == "O, <script>alert(1)</script> for $5 and $10."


@pytest.mark.timeout(20)
@pytest.mark.parametrize("text", ["$" * 20_000, "<b>" * 7_000, "moon " * 4_000, "\\(" * 10_000, "<i>a</i>" * 2_500])
def test_hostile_texts_are_read_to_their_end(text: str) -> None:
    nodes = build_text_tree(text, make_matcher("moon AND tide"))
    assert sum(len(node["text"]) for node in nodes) >= len(text) // 8
