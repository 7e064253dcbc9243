"""Tests of matching: which records are one paper."""

from itertools import permutations
from typing import Any

import pytest

from paper_search.domain.dedup import deduplicate, merge_duplicates
from paper_search.models import WorkType
from tests.paper_search.domain.dedup.sample_records import (
    TITLE,
    count_papers,
    is_one_paper,
    list_reasons,
    make_anonymous_paper,
    make_paper,
)


@pytest.mark.parametrize(
    "spelling", ["https://doi.org/10.1000/ABC", "doi:10.1000/abc", "10.1000/Abc.", " 10.1000/abc "]
)
def test_one_doi_in_any_spelling_is_one_paper(spelling: str) -> None:
    assert is_one_paper(
        make_paper(doi="10.1000/abc"), make_paper("Tidal dissipation in moons", doi=spelling, year=2021)
    )


@pytest.mark.parametrize(
    ("scheme", "left", "right", "reason"),
    [
        ("arxiv", "2101.00001v2", "arXiv:2101.00001", "same arXiv id"),
        ("pmid", "PMID: 123456", "123456", "same PubMed id"),
        ("pmcid", "PMC777", "pmc777.2", "same PubMed Central id"),
        ("openalex", "https://openalex.org/W42", "w42", "same OpenAlex id"),
        ("s2", "A" * 40, "a" * 40, "same Semantic Scholar id"),
        ("dblp", "DBLP:conf/x/Wang19", "conf/x/Wang19", "same DBLP key"),
    ],
)
def test_one_identifier_in_two_spellings_is_one_paper(scheme: str, left: str, right: str, reason: str) -> None:
    found = deduplicate(
        [
            make_anonymous_paper("Dissipation in icy moons", identifiers={scheme: left}),
            make_anonymous_paper(
                "Tidal dissipation in moons", year=None, identifiers={scheme: right}, source="crossref"
            ),
        ]
    )
    assert len(found.papers) == 1
    assert found.merged == {reason: 1}


def test_an_arxiv_doi_and_an_arxiv_id_are_one_paper() -> None:
    assert is_one_paper(
        make_anonymous_paper("Moons", identifiers={"arxiv": "2101.00001"}),
        make_anonymous_paper("Moons!", doi="10.48550/arXiv.2101.00001"),
    )


def test_versions_of_one_preprint_doi_are_one_paper() -> None:
    first = make_anonymous_paper("Icy moons", doi="10.26434/chemrxiv-2021-abcde-v1")
    assert is_one_paper(first, make_anonymous_paper("Small icy moons", doi="10.26434/chemrxiv-2021-abcde-v3"))


def test_the_doi_of_a_whole_volume_merges_none_of_its_papers() -> None:
    topics = ["rings", "craters", "auroras", "comets", "dust", "plumes", "tides", "spectra", "storms", "halos"]
    volume = [
        make_paper(f"Observing {topic} from orbit {topic}", f"{topic.title()} Author", doi="10.1000/proceedings")
        for topic in topics
    ]
    merged = merge_duplicates(volume)
    assert len(merged) == len(topics)
    assert len({found.id for found in merged}) == len(topics)


def test_unrelated_records_with_one_doi_stay_separate() -> None:
    assert (
        count_papers(
            make_paper("Rings of Saturn", "A. Kim", doi="10.1000/x"), make_paper("Bird song", "B. Lee", doi="10.1000/x")
        )
        == 2
    )


def test_a_translated_title_with_the_same_doi_and_authors_is_one_paper() -> None:
    assert is_one_paper(make_paper("Gezeitenreibung kleiner Eismonde", doi="10.1000/x"), make_paper(doi="10.1000/x"))


def test_the_same_title_authors_and_year_are_one_paper() -> None:
    merged = merge_duplicates(
        [make_paper(), make_paper(TITLE.upper(), "Wang, L.", "Garcia Marquez A", "Mueller, J.", source="dblp")]
    )
    assert [list_reasons(found) for found in merged] == [{"first record", "title, authors and year match"}]


def test_a_misspelled_title_is_recognised() -> None:
    assert is_one_paper(make_paper(), make_paper(TITLE.replace("dissipation", "disipation"), source="dblp"))


def test_a_dropped_subtitle_is_recognised() -> None:
    assert is_one_paper(make_paper(), make_paper(f"{TITLE}: evidence from three flybys", source="dblp"))


def test_et_al_matches_the_remaining_authors() -> None:
    assert is_one_paper(make_paper(), make_paper(TITLE, "Wang et al.", source="scholar"))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("{}, Part I", "{}, Part II"),
        ("{}. I", "{}. II"),
        ("{}", "{} II"),
        ("{} (Part A)", "{} (Part B)"),
        ("{}: Part one", "{}: Part two"),
        ("{}, Volume 2", "{}, Volume 3"),
        ("{}: Chapter 3", "{}: Chapter 4"),
        ("{}: report 2018", "{}: report 2019"),
        ("SemEval-2019 Task 3: {}", "SemEval-2019 Task 4: {}"),
        ("SemEval-2018 Task 3: {}", "SemEval-2019 Task 3: {}"),
        ("{}", "Erratum: {}"),
        ("{}", "Correction to: {}"),
        ("{}", "{} (Corrigendum)"),
        ("{}", "Reply to: {}"),
        ("{}", "Comment on '{}'"),
        ("{}", "Editorial: {}"),
        ("Supervised study of {}", "Semi-supervised study of {}"),
        ("{} with water", "{} without water"),
        ("{} on Europa", "{} on Enceladus"),
    ],
)
@pytest.mark.parametrize("source", ["openalex", "crossref"])
def test_titles_that_mean_different_papers_stay_separate(left: str, right: str, source: str) -> None:
    assert count_papers(make_paper(left.format(TITLE)), make_paper(right.format(TITLE), source=source)) == 2


@pytest.mark.parametrize(
    "title", ["Editorial", "Preface", "Introduction", "Erratum", "Author index", "Guest editorial", ""]
)
def test_generic_and_missing_titles_identify_nothing(title: str) -> None:
    assert count_papers(make_paper(title), make_paper(title, source="crossref")) == 2


def test_untitled_papers_stay_separate_with_unique_ids() -> None:
    merged = merge_duplicates(
        [make_anonymous_paper(""), make_anonymous_paper(""), make_anonymous_paper("  ", source="crossref")]
    )
    assert len({found.id for found in merged}) == 3


def test_untitled_papers_with_one_identifier_are_one() -> None:
    assert is_one_paper(make_anonymous_paper("", doi="10.1000/x"), make_paper(doi="10.1000/x"))


def test_records_with_two_journal_dois_stay_separate() -> None:
    assert count_papers(make_paper(doi="10.1000/a"), make_paper(doi="10.1000/b")) == 2


def test_a_record_without_doi_does_not_chain_two_journal_dois() -> None:
    records = [make_paper(doi="10.1000/a"), make_paper(), make_paper(doi="10.1000/b"), make_paper(source="dblp")]
    for order in permutations(records):
        merged = merge_duplicates(order)
        assert sorted(found.doi or "" for found in merged) == ["10.1000/a", "10.1000/b"]


def test_an_arxiv_id_does_not_chain_two_journal_dois() -> None:
    arxiv = {"arxiv": "2101.00001"}
    records = [make_paper(doi="10.1000/a", identifiers=arxiv), make_paper(doi="10.1000/b", identifiers=arxiv)]
    assert count_papers(*records, make_paper(identifiers=arxiv)) == 2


def test_a_bare_title_does_not_chain_two_numbered_ones() -> None:
    report = "Annual report of the observatory of the southern islands"
    numbered = [make_paper(f"{report} 2018", year=2018), make_paper(f"{report} 2019", year=2019)]
    for order in permutations([*numbered, make_paper(report, year=None)]):
        assert count_papers(*order) >= 2


def test_a_record_without_authors_does_not_chain_two_groups_of_authors() -> None:
    records = [make_paper(TITLE, "A. Kim"), make_anonymous_paper(), make_paper(TITLE, "B. Lee")]
    for order in permutations(records):
        assert count_papers(*order) == 2


@pytest.mark.parametrize(
    "preprint",
    [
        {"doi": "10.48550/arXiv.2101.00001"},
        {"doi": "10.1101/2020.01.02.123456"},
        {"doi": "10.1101/123456"},
        {"doi": "10.2139/ssrn.3456789"},
        {"doi": "10.26434/chemrxiv-2021-abcde"},
        {"doi": "10.21203/rs.3.rs-12345/v1"},
        {"doi": "10.9999/unknown.server", "work_type": WorkType.PREPRINT},
        {"identifiers": {"arxiv": "2101.00001"}},
        {"venue": "arXiv preprint"},
    ],
)
def test_a_preprint_is_paired_with_the_journal_version(preprint: dict[str, Any]) -> None:
    earlier = make_paper(year=2017, source="arxiv", **preprint)
    merged = merge_duplicates(
        [earlier, make_paper(year=2020, doi="10.1000/journal", venue="Icy Letters", source="crossref")]
    )
    assert len(merged) == 1
    assert merged[0].doi == "10.1000/journal"
    assert (merged[0].year, merged[0].venue) == (2020, "Icy Letters")
    assert "preprint of the journal version" in list_reasons(merged[0])


def test_a_preprint_may_change_its_title_a_little() -> None:
    earlier = make_paper("On tidal dissipation in the mantles of icy moons", doi="10.48550/arXiv.2101.00001", year=2018)
    assert is_one_paper(earlier, make_paper(doi="10.1000/journal"))


def test_a_reworded_title_needs_the_same_authors() -> None:
    earlier = make_paper(
        "On tidal dissipation in icy moons' mantles", "A. Kim", "B. Lee", doi="10.48550/arXiv.2101.00001"
    )
    assert count_papers(earlier, make_paper(doi="10.1000/journal")) == 2


def test_a_preprint_four_years_older_is_another_paper() -> None:
    assert (
        count_papers(make_paper(year=2015, identifiers={"arxiv": "2101.00001"}), make_paper(doi="10.1000/journal")) == 2
    )


def test_two_arxiv_ids_are_two_papers() -> None:
    assert (
        count_papers(make_paper(identifiers={"arxiv": "2101.00001"}), make_paper(identifiers={"arxiv": "2101.00002"}))
        == 2
    )


def test_a_press_that_shares_a_prefix_with_a_preprint_server_is_not_a_preprint_server() -> None:
    assert count_papers(make_paper(doi="10.1101/gr.123456.119"), make_paper(doi="10.1000/journal")) == 2


def test_different_authors_of_one_title_are_two_papers() -> None:
    assert count_papers(make_paper(TITLE, "A. Kim", "B. Lee"), make_paper(TITLE, "C. Roy", "D. Sun")) == 2


def test_years_far_apart_are_two_papers() -> None:
    assert count_papers(make_paper(year=2001), make_paper(year=2019)) == 2


def test_a_conference_paper_and_its_journal_article_are_two() -> None:
    talk = make_paper(venue="International Conference on Icy Moons")
    assert count_papers(talk, make_paper(venue="Journal of Icy Moons")) == 2
    assert count_papers(talk, make_paper(venue="Int. Conf. Icy Moons", source="dblp", year=2020)) == 1


def test_a_missing_year_or_missing_authors_do_not_prevent_a_match() -> None:
    assert is_one_paper(make_paper(year=None), make_paper(source="dblp"))
    assert is_one_paper(make_anonymous_paper(), make_paper(source="dblp"))


def test_a_short_title_needs_authors_that_agree() -> None:
    assert count_papers(make_anonymous_paper("Icy moons"), make_anonymous_paper("Icy moons", source="dblp")) == 2
    assert is_one_paper(make_paper("Icy moons"), make_paper("Icy moons", source="dblp"))


def test_one_extra_word_is_accepted_between_sources_but_not_within_one() -> None:
    longer = "Tidal dissipation in the deep mantles of small icy moons of giants"
    shorter = longer.replace("deep ", "")
    assert is_one_paper(make_paper(longer), make_paper(shorter, source="dblp"))
    assert count_papers(make_paper(longer), make_paper(shorter)) == 2


@pytest.mark.parametrize(
    ("title", "names"),
    [
        ("基于深度学习的图像分割方法研究", ("王磊", "李娜")),
        ("دراسة حول المد والجزر في الأقمار الجليدية الصغيرة", ("محمد علي", "فاطمة حسن")),
        ("Приливная диссипация в мантиях малых ледяных спутников", ("Иван Петров", "Анна Сидорова")),
    ],
)
def test_titles_in_any_script_are_compared(title: str, names: tuple[str, ...]) -> None:
    assert is_one_paper(make_paper(title, *names), make_paper(f" {title}.", *names, source="dblp"))
    assert count_papers(make_paper(f"{title} 1", *names), make_paper(f"{title} 2", *names)) == 2


def test_words_of_other_fields_in_a_title_are_ignored() -> None:
    messy = make_anonymous_paper(
        f"Müller (2019). {TITLE.lower()}, Icy Letters 7", source="cora", venue="Icy Letters", volume="7"
    )
    messy.authors = make_paper(TITLE, "Wang, L., Garcia Marquez, A., and Müller, J.").authors
    assert is_one_paper(messy, make_paper(venue="Icy Letters"))


def test_hundreds_of_copies_become_one_paper_with_every_record() -> None:
    copies = [make_paper(source=f"source {number}", citation_count=number) for number in range(300)]
    merged = merge_duplicates(copies)
    assert len(merged) == 1
    assert (len(merged[0].records), merged[0].citation_count) == (300, 299)


ABSTRACT: dict[str, Any] = {"venue": "Icy Moons Review", "issue": "SUPPL. 2"}
SUPPLEMENT_DOI = "10.1000/supplement.2"


def test_abstracts_on_two_pages_of_a_supplement_with_one_doi_are_two_papers() -> None:
    left = make_paper(doi=SUPPLEMENT_DOI, pages="51", **ABSTRACT)
    right = make_paper(f"The {TITLE}", "Lei Wang", "Ana García", doi=SUPPLEMENT_DOI, pages="52", **ABSTRACT)
    assert count_papers(left, right) == 2


def test_records_of_two_abstracts_with_one_doi_are_joined_page_by_page_in_any_order() -> None:
    names = ("Lei Wang", "Ana García")
    records = [
        make_paper(doi=SUPPLEMENT_DOI, pages="51", source="a", **ABSTRACT),
        make_paper(f"The {TITLE}", *names, doi=SUPPLEMENT_DOI, pages="52", source="a", **ABSTRACT),
        make_paper(pages="51", source="b", venue="Icy Moons Review"),
        make_paper(f"The {TITLE}", *names, pages="52", source="b", venue="Icy Moons Review"),
    ]
    for order in permutations(records):
        assert sorted({record.source for record in paper.records} for paper in merge_duplicates(order)) == [
            {"a", "b"},
            {"a", "b"},
        ]


def test_a_page_number_with_an_error_does_not_separate_one_abstract() -> None:
    doi = "10.1000/supplement.2.21"
    assert is_one_paper(make_paper(doi=doi, pages="i428", **ABSTRACT), make_paper(doi=doi, pages="1428-1428"))


def test_pages_with_and_without_the_letter_of_the_supplement_are_one_page() -> None:
    assert is_one_paper(
        make_paper(pages="S67", venue="Icy Moons Review"), make_paper(pages="67", source="crossref", **ABSTRACT)
    )


@pytest.mark.parametrize(
    "other",
    [
        {"venue": "Tides and Mantles", "pages": "12-25"},
        {"venue": "Tides and Mantles"},
        {"venue": "Icy Moons Review", "pages": "330-340", "year": 2020},
        {"venue": None},
    ],
)
def test_title_and_authors_alone_do_not_join_a_meeting_abstract_with_another_publication(other: dict[str, Any]) -> None:
    assert count_papers(make_paper(**ABSTRACT, pages="S67"), make_paper(source="crossref", **other)) == 2


@pytest.mark.parametrize(
    "other",
    [
        {"venue": "Icy Moons Review"},
        {"venue": "Icy Moons Review. Conference: 12th Meeting on Moons"},
        {"venue": "Abstracts of Posters", "pages": "67"},
    ],
)
def test_an_abstract_is_joined_by_title_if_its_venue_and_year_or_its_page_agree(other: dict[str, Any]) -> None:
    assert is_one_paper(make_paper(**ABSTRACT, pages="S67"), make_paper(source="crossref", **other))


def test_single_pages_of_one_journal_in_one_year_that_differ_are_two_papers() -> None:
    venue = "Icy Moons Review"
    assert (
        count_papers(make_paper(venue=venue, pages="51"), make_paper(venue=venue, pages="52", source="crossref")) == 2
    )


def test_a_preprint_of_a_paper_in_a_supplement_is_one_paper() -> None:
    assert is_one_paper(
        make_paper(**ABSTRACT, pages="S67-S80"), make_paper(source="arxiv", identifiers={"arxiv": "1901.00001"})
    )
