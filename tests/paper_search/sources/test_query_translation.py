from typing import Any

import pytest

from paper_search.models import SearchConstraints, SearchQuery
from paper_search.sources.http_source import build_first_requests, find_query_text
from paper_search.sources.query_translation import translate_queries

BOTH = SearchQuery(keywords=[], boolean_query='"shift work" AND cancer', words="shift work cancer")
BOOLEAN = SearchQuery(keywords=[], boolean_query="nurses AND night")
WORDS = SearchQuery(keywords=[], boolean_query="", words="night nurses cancer -rodent")
SOURCES = ["pubmed", "crossref", "dblp"]


def translate(*queries: SearchQuery, **filters: Any) -> list[list[Any]]:
    return translate_queries(SOURCES, queries, SearchConstraints(**filters))


def test_each_source_receives_the_text_of_its_kind() -> None:
    both, boolean, words = translate(BOTH, BOOLEAN, WORDS)
    assert [one["text"] for one in both] == ['("shift work" AND cancer)', "shift work cancer", "shift work cancer"]
    assert [one["is_received"] for one in boolean] == [True, False, True]
    assert boolean[1]["problem"] == "Crossref receives plain words, and this query has none."
    assert [one["text"] for one in words] == [None, "night nurses cancer", None]
    assert words[0]["problem"] == "PubMed receives a Boolean text, and this query has none."
    assert words[1]["notes"] == ["Excluded words are checked after the papers arrive."]


def test_without_words_ranking_sources_receive_the_words_of_the_boolean_queries() -> None:
    ((_, crossref, _),) = translate(BOOLEAN)
    assert (crossref["text"], crossref["is_received"]) == ("nurses night", True)


def test_a_translation_has_the_label_of_the_source_and_its_limits() -> None:
    ((pubmed, _, dblp),) = translate(BOOLEAN, year_from=2010, max_results=30)
    assert (pubmed["source"], pubmed["label"]) == ("pubmed", "PubMed")
    assert pubmed["text"] == "(nurses AND night) AND 2010:3000[dp]"
    assert "retmax=30" in pubmed["address"]
    assert dblp["notes"] == ["Years are checked after the papers arrive."]


def test_a_source_that_cannot_look_up_identifiers_does_not_receive_them() -> None:
    ((pubmed, crossref, dblp),) = translate(SearchQuery(keywords=[], boolean_query="10.5555/kiln.1"))
    assert "10.5555/kiln.1" in pubmed["text"]
    assert "10.5555/kiln.1" in crossref["text"]
    assert (dblp["is_received"], dblp["text"]) == (False, None)
    assert dblp["problem"] == "This source cannot look up these identifiers."


class BrokenDefinition:
    name = "dblp"
    kind = "boolean"
    capabilities = frozenset[str]()

    def build_requests(self, *_: Any) -> list[Any]:
        raise ZeroDivisionError


def test_a_source_that_cannot_translate_a_query_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paper_search.sources.dblp.definition", BrokenDefinition())
    ((*_, dblp),) = translate(BOOLEAN)
    assert dblp["problem"] == "DBLP cannot translate this query; the log has the details."


def test_the_text_of_several_lookups_has_a_line_for_each_request() -> None:
    from paper_search.sources.crossref import definition

    query = SearchQuery(keywords=[], boolean_query=" OR ".join(f'"10.5555/{n}"' for n in range(30)))
    requests = build_first_requests(definition, query, SearchConstraints(), 100)
    assert len(find_query_text(query, requests).splitlines()) == len(requests) == 2
