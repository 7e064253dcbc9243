"""The ids of records: the same for a search and for a shelf, and the same as in earlier versions."""

import pytest

from paper_search.models import Author, RawPaper, make_paper_id
from uraniborg.kernel.bibliography.identifiers import is_record_id, list_record_ids, make_record_id


@pytest.mark.parametrize(
    ("identifiers", "doi", "expected"),
    [
        ({"arxiv": "2101.00001"}, "10.1000/ABC ", "p_91b32f9a00bd805c"),
        ({"pmid": "7", "arxiv": "2101.00001"}, None, "p_c41ca2fe7a07b942"),
        ({"shelf": "0" * 32, "bibkey": "brahe1577"}, None, "p_f22c2c41d27f3868"),
    ],
)
def test_an_id_follows_from_the_most_reliable_identifier_as_it_always_did(
    identifiers: dict[str, str], doi: str | None, expected: str
) -> None:
    made = make_record_id(identifiers, doi, "De  nova stella", " Tycho Brahe", 1573)
    author = Author(name="Tycho brahe ")
    assert made == expected == make_paper_id(identifiers, doi, "De nova Stella", [author], 1573)
    assert is_record_id(made)


def test_the_ids_of_a_paper_include_that_of_every_record_with_some_of_its_facts() -> None:
    known = {"doi": "10.1000/ABC", "arxiv": "2101.00001", "pmid": "7", "bibkey": "x"}
    ids = list_record_ids(known, "De nova stella", "Tycho Brahe", 1573)
    paper = RawPaper(title="De nova stella", authors=[Author(name="Tycho Brahe")], year=1573, source="x")
    known_ids: list[dict[str, str]] = [{"doi": "10.1000/abc"}, {"arxiv": "2101.00001"}, {"pmid": "7"}, {}]
    for identifiers in known_ids:
        assert RawPaper.model_validate({**paper.model_dump(exclude={"id"}), "identifiers": identifiers}).id in ids
    assert len(ids) == 4


@pytest.mark.parametrize("text", ["p_12", "p_0123456789ABCDEF", "q_0123456789abcdef", "p_0123456789abcdef0", ""])
def test_other_texts_are_not_ids_of_records(text: str) -> None:
    assert not is_record_id(text)
