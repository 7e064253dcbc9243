"""Entries of one paper are merged, and entries of different papers are not."""

from copy import deepcopy
from itertools import permutations
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from paper_library.domain.entries import Entry
from paper_library.domain.entry_matcher import EntryMatcher, make_keys
from tests.paper_library.service.build.readers.entries import group_origins, make_entry, merge_into_papers

TITLE = "Deep Fish of the North"
OWN_TITLES = (TITLE, "Quantum Wells at Low Cost", "A Grammar for Whistled Speech")
ADA, KURT = ["Ada Lovelace"], ["Kurt Gödel"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"doi": "10.1000/XYZ"}, {"doi": "https://doi.org/10.1000%2Fxyz."}),
        ({"arxiv": "2301.00001v1"}, {"arxiv": "https://arxiv.org/abs/2301.00001v3"}),
        ({"arxiv": "2301.00001"}, {"doi": "10.48550/arXiv.2301.00001"}),
        ({"paper_id": "a" * 32}, {"paper_id": "a" * 32}),
    ],
    ids=["doi", "arxiv version", "arxiv doi", "id on the shelf"],
)
@pytest.mark.parametrize("title", [TITLE, "Quite Another Title"])
def test_entries_with_the_same_identifier_are_one_paper(one: dict[str, str], other: dict[str, str], title: str) -> None:
    entries = [make_entry("a.bib:1", TITLE, **one), make_entry("b.bib:1", title, **other)]
    assert group_origins(entries) == [["a.bib:1", "b.bib:1"]]


@pytest.mark.parametrize(
    "title", ["Deep fish of the north", "Deep Fishes of the North", "Deep Fish of the North: A Study", ""]
)
def test_entries_with_the_same_bibtex_key_and_a_similar_title_are_one_paper(title: str) -> None:
    entries = [make_entry("a.bib:1", TITLE, bibkey="k", year=2019), make_entry("b.bib:1", title, bibkey="k", year=2019)]
    assert group_origins(entries) == group_origins(entries[::-1]) == [["a.bib:1", "b.bib:1"]]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"authors": ADA, "year": 2019}, {"authors": ADA, "year": 2019}),
        ({"authors": ADA, "year": 2019}, {"authors": ["A. Lovelace"], "year": 2019}),
        ({"authors": ["Kurt Gödel"], "year": 2019}, {"authors": ["K. GODEL"], "year": 2019}),
        ({"authors": ADA, "year": 2019}, {"authors": ADA}),
        ({"authors": ADA, "year": 2019}, {}),
        ({"authors": [*ADA, *KURT]}, {"authors": [*KURT, *ADA]}),
        ({"authors": ADA, "doi": "10.1000/x"}, {"authors": ADA, "doi": "10.48550/arXiv.2301.00001"}),
    ],
    ids=["same", "initials", "accents", "no year", "title alone", "order of authors", "preprint and paper"],
)
@pytest.mark.parametrize("title", [TITLE, "deep  FISH—of the north."])
def test_entries_whose_facts_agree_are_one_paper(one: dict[str, Any], other: dict[str, Any], title: str) -> None:
    assert len(group_origins([make_entry("a.bib:1", TITLE, **one), make_entry("b.bib:1", title, **other)])) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"authors": ADA, "year": 2019}, {"authors": ADA, "year": 2020}),
        ({"authors": ADA, "year": 2019}, {"authors": KURT, "year": 2019}),
        ({"authors": ADA, "doi": "10.1000/x"}, {"authors": ADA, "doi": "10.1000/y"}),
        ({"bibkey": "fish2019"}, {"bibkey": "fish2019", "title": "Wholly Unlike Things"}),
        ({"bibkey": "fish2019", "authors": ADA}, {"bibkey": "fish2019", "authors": KURT}),
        ({"bibkey": "fish2019", "year": 2019}, {"bibkey": "fish2019", "year": 2020}),
        ({"stem": "paper"}, {"stem": "paper", "title": "Wholly Unlike Things"}),
        ({"title": "Introduction"}, {"title": "Introduction"}),
        ({"title": ""}, {"title": ""}),
    ],
    ids=[
        "years",
        "authors",
        "dois",
        "title under a key",
        "authors under a key",
        "years under a key",
        "file names",
        "short",
        "untitled",
    ],
)
def test_entries_that_contradict_each_other_stay_apart(one: dict[str, Any], other: dict[str, Any]) -> None:
    first = make_entry("a/paper.md", one.pop("title", TITLE), **one)
    second = make_entry("b/paper.md", other.pop("title", TITLE), **other)
    assert group_origins([first, second]) == [["a/paper.md"], ["b/paper.md"]]
    assert group_origins([second, first]) == [["a/paper.md"], ["b/paper.md"]]


def test_a_title_that_one_file_lists_twice_without_authors_means_two_papers() -> None:
    assert len(group_origins([make_entry("refs.bib:1", TITLE), make_entry("refs.bib:2", TITLE)])) == 2
    assert len(group_origins([make_entry("refs.bib:1", TITLE), make_entry("more.bib:2", TITLE)])) == 1


@pytest.mark.parametrize("bib_first", [True, False])
def test_a_file_named_like_a_bibtex_key_belongs_to_its_entry(bib_first: bool) -> None:
    entries = [make_entry("refs.bib:1", TITLE, bibkey="fish2019"), make_entry("fish2019.pdf", "", stem="fish2019")]
    assert len(group_origins(entries if bib_first else reversed(entries))) == 1


def test_a_file_named_like_a_bibtex_key_but_with_another_doi_is_another_paper() -> None:
    cited = make_entry("refs.bib:1", TITLE, bibkey="fish2019", doi="10.1000/x", authors=ADA)
    file = make_entry("fish2019.md", "Wholly Unlike Things", stem="fish2019", doi="10.1000/y", authors=KURT)
    assert len(group_origins([cited, file])) == 2


def test_two_files_with_the_same_name_and_a_bibtex_key_of_that_name_stay_apart() -> None:
    cited = make_entry("0.bib:1", "Wholly Unlike Things", bibkey="paper", authors=ADA)
    files = [
        make_entry("a/paper.md", "Deep Fish of the North", stem="paper", authors=ADA),
        make_entry("b/paper.md", "High Birds of the South", stem="paper", authors=KURT),
    ]
    assert len(group_origins([cited, *files])) == len(group_origins([*files, cited]))


def test_two_dois_under_one_bibtex_key_are_two_papers() -> None:
    one, other = (make_entry(f"{name}.bib:1", TITLE, bibkey="k", doi=f"10.1000/{name}") for name in "ab")
    assert len(group_origins([one, other])) == 2


def test_entries_that_match_a_third_entry_are_one_paper_with_it() -> None:
    entries = [
        make_entry("a.bib:1", "A Title Here", doi="10.1000/x"),
        make_entry("b.bib:1", "Some Other Title", arxiv="2301.00001"),
        make_entry("c.bib:1", "A Third Title Yet", doi="10.1000/x", arxiv="2301.00001"),
    ]
    for order in permutations(entries):
        assert group_origins(order) == [["a.bib:1", "b.bib:1", "c.bib:1"]]


def test_the_reason_for_a_merge_is_reported() -> None:
    matcher = EntryMatcher()
    for entry in (make_entry("a.bib:1", doi="10.1000/x"), make_entry("b.bib:1", doi="10.1000/x")):
        matcher.add_entry(entry, make_keys(entry))
    assert [matcher.get_merge_reason(number) for number in (0, 1)] == ["", "same DOI"]


def _entries(draw: st.DrawFn, *, own_titles: bool) -> list[Entry]:
    """Draw several entries of each of some papers, each entry with some of the fields."""
    found: list[Entry] = []
    for number in range(draw(st.integers(1, 3))):
        title = OWN_TITLES[number] if own_titles else TITLE
        facts = {
            "authors": draw(st.sampled_from([ADA, KURT, [*ADA, *KURT]])),
            "year": draw(st.sampled_from([2019, 2020])),
            "doi": f"10.1000/{number}",
            "arxiv": f"2301.0000{number}",
            "bibkey": draw(st.sampled_from(["fish", f"fish{number}"])) if own_titles else f"fish{number}",
        }
        for _ in range(draw(st.integers(1, 3))):
            chosen = draw(st.sets(st.sampled_from(sorted(facts))))
            spelled = draw(st.sampled_from([title, title.upper(), f"{title}."]))
            kind = draw(st.sampled_from(["bib", "ris", "md"]))
            found.append(make_entry(f"{len(found)}.{kind}:1", spelled, **{name: facts[name] for name in chosen}))
    return found


@st.composite
def papers_with_own_titles(draw: st.DrawFn) -> list[Entry]:
    return _entries(draw, own_titles=True)


@st.composite
def papers_with_one_title(draw: st.DrawFn) -> list[Entry]:
    return _entries(draw, own_titles=False)


def _assert_same_in_any_order(entries: list[Entry], order: list[int]) -> None:
    shuffled = [deepcopy(entries[place]) for place in order]
    assert merge_into_papers(deepcopy(entries)) == merge_into_papers(shuffled)


@settings(max_examples=60)
@given(papers_with_own_titles(), st.randoms(use_true_random=False))
def test_any_order_of_entries_gives_the_same_papers_ids_and_fields(entries: list[Entry], random: Any) -> None:
    _assert_same_in_any_order(entries, random.sample(range(len(entries)), len(entries)))


BETWEEN = [
    make_entry("a.bib:1", TITLE, authors=ADA, year=2019),
    make_entry("b.bib:1", TITLE, authors=KURT, year=2020),
    make_entry("c.bib:1", TITLE),
]


@given(papers_with_one_title(), st.just([0, 2, 1]))
@example(BETWEEN, [0, 2, 1])
def test_any_order_gives_the_same_papers_where_titles_are_the_same(entries: list[Entry], order: list[int]) -> None:
    order = order if len(entries) == len(order) else list(range(len(entries)))[::-1]
    _assert_same_in_any_order(entries, order)


def test_an_entry_with_little_metadata_does_not_make_one_of_two_papers() -> None:
    one, other, little = BETWEEN
    assert not any({"a.bib:1", "b.bib:1"} <= set(group) for group in group_origins([one, little, other]))


@settings(max_examples=60)
@given(st.one_of(papers_with_own_titles(), papers_with_one_title()))
def test_no_entry_is_lost_and_none_is_in_two_papers(entries: list[Entry]) -> None:
    origins = [origin for paper in merge_into_papers(entries) for origin in paper.origins]
    assert sorted(origins) == sorted(entry.origin for entry in entries)
