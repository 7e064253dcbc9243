"""One paper is merged from all its entries."""

from itertools import permutations

import pytest

from paper_library.domain.entry_matcher import make_keys
from paper_library.domain.merging import MergedPaper, compute_precedence, merge_entries, remove_folded_duplicates
from paper_library.domain.paper_ids import make_meta_key, make_paper_id, normalise_title
from tests.paper_library.service.build.readers.entries import make_entry


def merge_into_one_paper(*entries: object) -> MergedPaper:
    return merge_entries([(entry, make_keys(entry)) for entry in entries])  # pyright: ignore[reportArgumentType]


def test_missing_fields_are_filled_from_entries_of_lower_precedence() -> None:
    paper = merge_into_one_paper(
        make_entry("fish.md", "deep fish", source="# Fish", year=2020, abstract="From the file.", tags=["a"]),
        make_entry(
            "refs.bib:1", "Deep Fish", year=2019, venue="Journal", authors=["Ada Lovelace"], bibtex="@article{}"
        ),
    )
    entry = paper.entry
    assert (entry.title, entry.year, entry.venue) == ("Deep Fish", 2019, "Journal")
    assert (entry.abstract, entry.source, entry.bibtex) == ("From the file.", "# Fish", "@article{}")
    assert paper.origins == ["fish.md", "refs.bib:1"]


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ("a.bib:1", "a.ris:1"),
        ("z.bibtex:1", "a.json:1"),
        ("z.ris:1", "a.jsonl:1"),
        ("z.jsonl.gz:1", "a.xml"),
        ("z.jats", "a.md"),
        ("z.md", "a.pdf"),
        ("a.bib:1", "b.bib:1"),
        ("z.biblatex:1", "a.md"),
        ("z.csljson:1", "a.md"),
        ("z.markdown", "a.pdf"),
    ],
)
def test_bibliographies_take_precedence_over_texts(better: str, worse: str) -> None:
    for order in permutations([make_entry(better, "Better"), make_entry(worse, "Worse")]):
        assert merge_into_one_paper(*order).entry.title == "Better"
    assert compute_precedence(make_entry(better)) < compute_precedence(make_entry(worse))


def test_keywords_are_merged_without_repeats_ignoring_case_and_accents() -> None:
    paper = merge_into_one_paper(
        make_entry("a.bib:1", keywords=["Fish", "Schrödinger"]),
        make_entry("b.bib:1", keywords=["fish", "SCHRODINGER", "sea"]),
    )
    assert paper.entry.keywords == ["Fish", "Schrödinger", "sea"]
    assert remove_folded_duplicates(["β", "beta", "Beta", "gamma"]) == ["β", "gamma"]


def test_a_month_of_another_year_is_not_used() -> None:
    assert (
        merge_into_one_paper(make_entry("a.bib:1", year=2019), make_entry("b.bib:1", year=2020, month=5)).entry.month
        is None
    )
    assert (
        merge_into_one_paper(make_entry("a.bib:1", year=2019), make_entry("b.bib:1", year=2019, month=5)).entry.month
        == 5
    )


def test_the_strongest_key_of_all_entries_gives_the_id() -> None:
    known = [
        make_entry("a.bib:1", bibkey="fish2019"),
        make_entry("b.md", arxiv="2301.00001v2"),
        make_entry("c.json:1", doi="https://doi.org/10.1000/XYZ"),
    ]
    for order in permutations(known):
        paper = merge_into_one_paper(*order)
        assert paper.paper_id == make_paper_id("doi:10.1000/xyz")
        assert paper.keys[:3] == ["doi:10.1000/xyz", "arxiv:2301.00001", "bib:fish2019"]


def test_the_id_of_a_paper_without_identifiers_follows_from_its_facts() -> None:
    paper = merge_into_one_paper(make_entry("a.md", "Deep Fish!", authors=["Ada Lovelace"], year=2019, venue="Sea"))
    meta = make_meta_key(normalise_title("Deep Fish!"), ["Ada Lovelace"], 2019, "Sea")
    assert paper.paper_id == make_paper_id(f"meta:{meta}")


def test_an_earlier_id_is_preserved_when_a_stronger_key_is_added() -> None:
    old = make_entry("a.bib:1", bibkey="fish2019", paper_id="a" * 32)
    paper = merge_into_one_paper(old, make_entry("b.bib:1", doi="10.1000/x"))
    assert paper.paper_id == "a" * 32
    assert "doi:10.1000/x" in paper.keys


def test_identifiers_are_normalised_and_internal_ones_removed() -> None:
    paper = merge_into_one_paper(
        make_entry("a.md", doi="https://doi.org/10.1000/XYZ", arxiv="arXiv:2301.00001v2", pmid="12", stem="a")
    )
    assert paper.entry.identifiers == {"doi": "10.1000/xyz", "arxiv": "2301.00001", "pmid": "12"}


def test_every_key_of_every_entry_leads_to_the_paper() -> None:
    paper = merge_into_one_paper(make_entry("a.bib:1", bibkey="fish2019"), make_entry("b.bib:1", bibkey="Fish:2019"))
    assert {"bib:fish2019", "bib:Fish:2019"} <= set(paper.keys)
    assert len(paper.keys) == len(set(paper.keys))


def test_summaries_and_translations_of_all_entries_are_preserved() -> None:
    paper = merge_into_one_paper(
        make_entry("a.md", summaries={"deep": 1}, translations={"zh": "一"}),
        make_entry("b.md", summaries={"simple": 2, "deep": 3}, translations={"de": "eins"}, preferred_summary="simple"),
    )
    assert paper.entry.summaries == {"deep": 1, "simple": 2}
    assert paper.entry.translations == {"zh": "一", "de": "eins"}
    assert paper.entry.preferred_summary == "simple"


def test_merging_does_not_change_the_entries_of_others() -> None:
    one = make_entry("a.bib:1", doi="10.1000/x", keywords=["a"])
    other = make_entry("b.bib:1", keywords=["b"], translations={"zh": "一"})
    merge_into_one_paper(one, other)
    assert (one.keywords, one.translations, other.keywords) == (["a"], {}, ["b"])
