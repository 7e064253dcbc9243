"""The real strategies of librarians are read and rendered with the same meaning."""

import json
import random
from pathlib import Path

import pytest

from paper_search.domain.query.query_texts import normalise_query
from paper_search.domain.strategies.lint import list_query_errors
from paper_search.domain.strategies.platform_translation import PLATFORMS, render_for_pubmed, translate_node
from paper_search.domain.strategies.strategy_parser import is_strategy, read_strategy
from tests.paper_search.domain.strategies.pubmed_evaluation import is_match, list_leaves

SHARED = Path(__file__).parents[5] / "shared/data/reviews/pubmed_strategies.jsonl"


def load_strategies() -> list[str]:
    if not SHARED.is_file():
        pytest.skip(f"the shared strategies are not in {SHARED.parent.name}/")
    return [json.loads(line)["query"] for line in SHARED.read_text(encoding="utf-8").splitlines()]


def test_each_strategy_has_the_same_tree_after_rendering() -> None:
    for text in load_strategies():
        assert is_strategy(text)
        tree = read_strategy(text).tree
        assert tree is not None
        assert read_strategy(render_for_pubmed(tree)).tree == tree


def test_each_strategy_matches_the_same_records_after_rendering() -> None:
    randomness = random.Random(7)
    for text in load_strategies():
        tree = read_strategy(text).tree
        assert tree is not None
        rendered = render_for_pubmed(tree)
        leaves = sorted(list_leaves(text))
        matched = 0
        for share in (0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.95) * 25:
            held = {leaf for leaf in leaves if randomness.random() < share}
            wanted = is_match(text, held.__contains__)
            assert is_match(rendered, held.__contains__) is wanted
            matched += wanted
        assert 0 < matched < 200


def test_no_term_and_no_tag_of_a_strategy_is_lost() -> None:
    for text in load_strategies():
        tree = read_strategy(text).tree
        assert tree is not None
        assert list_leaves(render_for_pubmed(tree)) == list_leaves(text)


def test_the_strategies_have_no_errors_and_a_translation_for_every_platform() -> None:
    for text in load_strategies():
        assert list_query_errors(text) == []
        for platform in PLATFORMS.values():
            translation = translate_node(read_strategy(text).tree, platform)
            assert translation.text.count("(") == translation.text.count(")")
            assert len(translation.text) > len(text) // 3


def test_a_copy_for_another_database_is_refused_or_read_as_its_words_when_it_is_pasted() -> None:
    for text in load_strategies():
        for name in set(PLATFORMS) - {"pubmed"}:
            copy = translate_node(read_strategy(text).tree, PLATFORMS[name]).text
            if errors := list_query_errors(copy):
                assert errors[0].message.startswith("This is the syntax of ")
            else:
                assert name in {"wos", "scopus"}
                assert not {"TS", "TI", "ALL", "TITLE-ABS-KEY"} & set(normalise_query(copy).split())
