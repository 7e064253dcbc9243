"""Tests of merging: the fields of a merged paper and their sources."""

from itertools import permutations

from paper_search.domain.dedup import deduplicate, merge_duplicates
from paper_search.editorial_notices import EditorialNotice, NoticeStatus
from paper_search.models import REGISTRATION, Author, RawPaper, SourceRecord, WorkType, make_paper_id
from tests.paper_search.domain.dedup.sample_records import TITLE, list_names, make_anonymous_paper, make_paper


def merge_papers(*papers: RawPaper) -> RawPaper:
    (found,) = merge_duplicates(papers)
    return found


def test_the_journal_wins_and_the_preprint_keeps_its_identifiers() -> None:
    preprint = make_paper(
        year=2018,
        source="arxiv",
        venue="arXiv",
        doi="10.48550/arXiv.2101.00001",
        work_type=WorkType.PREPRINT,
        abstract="A long abstract that only the preprint has.",
        full_text_url="https://arxiv.org/pdf/2101.00001",
    )
    journal = make_paper(
        doi="10.1000/journal",
        source="crossref",
        venue="Icy Letters",
        work_type=WorkType.ARTICLE,
        volume="7",
        citation_count=3,
        full_text_url="https://doi.org/10.1000/journal",
    )
    found = merge_papers(preprint, journal)
    assert (found.doi, found.year, found.venue, found.volume) == ("10.1000/journal", 2019, "Icy Letters", "7")
    assert found.work_type is WorkType.ARTICLE
    assert found.identifiers == {"doi": "10.1000/journal", "arxiv": "2101.00001"}
    assert found.abstract == preprint.abstract
    assert found.full_text_url == preprint.full_text_url
    assert found.source == "crossref"
    assert found.provenance["venue"] == found.provenance["doi"] == "crossref"
    assert found.provenance["abstract"] == found.provenance["identifiers.arxiv"] == "arxiv"


def test_the_doi_of_a_preprint_is_stored_beside_the_journals() -> None:
    found = merge_papers(
        make_paper(doi="10.1101/123456", year=2018), make_paper(doi="10.1000/journal", source="crossref")
    )
    assert found.identifiers == {"doi": "10.1000/journal", "preprint_doi": "10.1101/123456"}
    again = merge_papers(
        found,
        make_anonymous_paper("Something the preprint was called before", doi="10.1101/123456", source="europepmc"),
    )
    assert again.doi == "10.1000/journal"


def test_a_published_paper_is_not_a_preprint() -> None:
    marked = make_paper(doi="10.1000/x", work_type=WorkType.PREPRINT, source="a")
    found = merge_papers(marked, make_paper(doi="10.1000/x", venue="Icy Letters", source="b"))
    assert found.work_type is None
    assert "work_type" not in found.provenance
    assert merge_papers(marked, marked).work_type is WorkType.PREPRINT


def test_every_source_record_is_listed_with_its_reason() -> None:
    found = merge_papers(
        make_paper(
            doi="10.1000/x", source="crossref", records=[SourceRecord(source="crossref", record_id="10.1000/x")]
        ),
        make_paper(doi="10.1000/x", source="openalex", records=[SourceRecord(source="openalex", record_id="W1")]),
        make_paper(source="dblp", records=[SourceRecord(source="dblp", record_id="conf/x/1")]),
    )
    assert {(record.source, record.record_id, record.reason) for record in found.records} == {
        ("crossref", "10.1000/x", "first record"),
        ("openalex", "W1", "same DOI"),
        ("dblp", "conf/x/1", "title, authors and year match"),
    }


def test_a_paper_that_was_not_merged_has_its_own_record() -> None:
    found = merge_papers(make_paper(doi="https://doi.org/10.1000/X", source="crossref"))
    assert found.records == [SourceRecord(source="crossref", record_id="doi:10.1000/x")]
    assert found.doi == "10.1000/x"


def test_records_survive_a_second_merge() -> None:
    first = merge_papers(make_paper(source="a", doi="10.1000/x"), make_paper(source="b", doi="10.1000/x"))
    second = merge_papers(first, make_paper(source="c", doi="10.1000/x"))
    assert {record.source for record in second.records} == {"a", "b", "c"}
    assert [record.reason for record in second.records].count("first record") == 1


def test_full_names_replace_initials_and_no_author_is_lost() -> None:
    found = merge_papers(
        make_paper(TITLE, "L. Wang", "A. García Márquez", "J. Müller", "K. Tanaka", doi="10.1000/x", source="crossref"),
        make_paper(TITLE, "Lei Wang", "Ana García Márquez", "Mueller, Jürgen", doi="10.1000/x", source="openalex"),
    )
    assert list_names(found) == ["Lei Wang", "Ana García Márquez", "Mueller, Jürgen", "K. Tanaka"]


def test_an_author_only_the_shorter_list_has_is_added() -> None:
    found = merge_papers(
        make_paper(TITLE, "Lei Wang", "Ana Gray", "Kei Tanaka", doi="10.1000/x", source="crossref"),
        make_paper(TITLE, "Lei Wang", "Zoe Quist", doi="10.1000/x", source="openalex"),
    )
    assert list_names(found) == ["Lei Wang", "Ana Gray", "Kei Tanaka", "Zoe Quist"]


def test_one_badly_misspelled_person_is_not_added_twice() -> None:
    found = merge_papers(
        make_paper(TITLE, "Lei Wang", "Mourad Quzzani", doi="10.1000/x", source="crossref"),
        make_paper(TITLE, "Lei Wang", "M. Wazzanie", doi="10.1000/x", source="openalex"),
    )
    assert len(found.authors) == 2


def test_author_ids_are_carried_over_and_et_al_is_dropped() -> None:
    known = RawPaper(
        title=TITLE,
        authors=[Author(name="L. Wang", author_id="0000-0001"), Author(name="et al.")],
        doi="10.1000/x",
        source="a",
    )
    found = merge_papers(known, make_paper(TITLE, "Lei Wang", "Kei Tanaka", doi="10.1000/x", source="b"))
    assert found.authors == [Author(name="Lei Wang", author_id="0000-0001"), Author(name="Kei Tanaka")]


def test_a_collaboration_stays_an_author() -> None:
    found = merge_papers(
        make_paper(TITLE, "ATLAS Collaboration", doi="10.1000/x", source="a"),
        make_paper(TITLE, "Lei Wang", doi="10.1000/x", source="b"),
    )
    assert set(list_names(found)) == {"ATLAS Collaboration", "Lei Wang"}


def test_three_hundred_authors_merge_with_their_initials_into_three_hundred() -> None:
    full = [
        f"Given{'abcdefghij'[n % 10]} Family{'abcdefghij'[n // 10 % 10]}{'xyz'[n // 100]}{'abcdefghij'[n % 10]}"
        for n in range(300)
    ]
    short = [f"{name.split()[0][0]}. {name.split()[1]}" for name in full]
    found = merge_papers(make_paper(TITLE, *short, source="a", doi="10.1000/x"), make_paper(TITLE, *full, source="b"))
    assert list_names(found) == full


def test_the_longest_sensible_abstract_and_the_most_citations_win() -> None:
    found = merge_papers(
        make_paper(doi="10.1000/x", abstract="Short.", citation_count=2, source="a"),
        make_paper(doi="10.1000/x", abstract="A good deal longer.", citation_count=9, source="b"),
        make_paper(doi="10.1000/x", abstract="Longer still but cut off in the mid…", source="c"),
        make_paper(doi="10.1000/x", abstract="full text " * 5_000, source="d"),
    )
    assert found.abstract == "A good deal longer."
    assert found.citation_count == 9
    assert found.provenance["abstract"] == found.provenance["citation_count"] == "b"


def test_a_readable_title_is_preferred_to_an_upper_case_or_truncated_one() -> None:
    found = merge_papers(
        make_paper(TITLE.upper(), doi="10.1000/x", source="a", abstract="x", venue="y"),
        make_paper(TITLE, doi="10.1000/x", source="b"),
        make_paper("Tidal dissipation in the ...", doi="10.1000/x", source="c"),
    )
    assert found.title == TITLE


def test_an_open_copy_is_preferred_to_other_links() -> None:
    found = merge_papers(
        make_paper(doi="10.1000/x", full_text_url="https://doi.org/10.1000/x", source="a"),
        make_paper(doi="10.1000/x", full_text_url="https://publisher.example/article/x", source="b"),
        make_paper(doi="10.1000/x", full_text_url="https://europepmc.org/articles/PMC1?pdf=render", source="c"),
    )
    assert found.full_text_url == "https://europepmc.org/articles/PMC1?pdf=render"


def test_identifiers_of_all_records_are_merged_with_unknown_schemes() -> None:
    found = merge_papers(
        make_paper(doi="10.1000/x", identifiers={"pmid": "PMID: 12", "isbn": "978-3"}, source="a"),
        make_paper(doi="doi:10.1000/X", identifiers={"openalex": "https://openalex.org/W7"}, source="b"),
    )
    assert found.identifiers == {"doi": "10.1000/x", "pmid": "12", "openalex": "W7", "isbn": "978-3"}


def test_the_id_follows_from_the_merged_identifiers() -> None:
    found = merge_papers(
        make_paper(identifiers={"arxiv": "2101.00001"}, year=2018), make_paper(doi="https://doi.org/10.1000/X")
    )
    assert found.id == make_paper_id({"doi": "10.1000/x"}, None, "", [], None)


def test_an_id_given_by_the_caller_is_replaced_by_the_one_that_follows_from_the_content() -> None:
    assert (
        merge_papers(make_paper(id="mine", doi="10.1000/x")).id
        == merge_papers(make_paper(id="yours", doi="10.1000/X")).id
    )


def test_the_counts_by_reason_add_up_to_the_number_of_merged_records() -> None:
    records = [
        make_paper(doi="10.1000/x"),
        make_paper(doi="10.1000/x", source="a"),
        make_paper(source="b"),
        make_paper("Something else entirely"),
    ]
    found = deduplicate(records)
    assert found.merged == {"same DOI": 1, "title, authors and year match": 1}
    assert sum(found.merged.values()) == len(records) - len(found.papers)


def test_the_papers_given_are_not_changed() -> None:
    records = [make_paper(doi="doi:10.1000/X", source="a"), make_paper(source="b")]
    before = [record.model_copy(deep=True) for record in records]
    merge_duplicates(records)
    assert records == before


def test_papers_are_in_the_order_of_first_appearance() -> None:
    records = [
        make_paper("Zebra stripes on Miranda"),
        make_paper(doi="10.1000/x"),
        make_paper("Auroras of Jupiter"),
        make_paper(source="b"),
    ]
    assert [found.title for found in merge_duplicates(records)] == [
        "Zebra stripes on Miranda",
        TITLE,
        "Auroras of Jupiter",
    ]


def test_no_papers_give_no_papers() -> None:
    assert merge_duplicates([]) == []


def test_lone_surrogates_and_control_characters_do_no_harm() -> None:
    odd = [make_paper(f"{TITLE} \ud800\x07", "L\udfff Wang", source=source) for source in ("a", "b", "a")]
    assert len(merge_duplicates(odd)) == 1


def test_notices_of_all_records_are_listed_once_with_their_sources() -> None:
    doi = "10.1000/journal"
    retraction = EditorialNotice(
        status=NoticeStatus.RETRACTED, source="crossref", date="2021-02-03", notice_doi="10.1000/r"
    )
    same = retraction.model_copy(update={"source": "pubmed", "date": "2021-02"})
    flag = EditorialNotice(status=NoticeStatus.RETRACTED, source="openalex")
    records = [
        make_paper(doi=doi, source="crossref", notices=[retraction]),
        make_paper(doi=doi, source="pubmed", notices=[same]),
        make_paper(doi=doi, source="openalex", notices=[flag]),
        make_paper(doi=doi, source="dblp"),
    ]
    for order in permutations(records):
        found = merge_papers(*order)
        assert found.notices == [retraction, flag]
        assert found.retraction == retraction
        assert found.provenance["notices"] == "crossref, openalex, pubmed"
    two_steps = merge_papers(merge_papers(*records[:2]), merge_papers(*records[2:]))
    assert (two_steps.notices, two_steps.provenance["notices"]) == ([retraction, flag], "crossref, openalex, pubmed")
    assert "notices" not in merge_papers(make_paper(doi=doi), make_paper(doi=doi, source="dblp")).provenance


def test_a_marked_title_and_the_plain_one_are_one_paper_under_the_plain_title() -> None:
    marked = make_paper(f"RETRACTED: {TITLE}", source="crossref", venue="Icy Letters", abstract="Longer.", volume="1")
    found = merge_papers(marked, make_paper(source="semantic_scholar"))
    assert found.title == TITLE
    assert merge_papers(marked).title == marked.title


def test_the_notice_of_a_retraction_stays_a_separate_paper() -> None:
    for title in (f"Retraction: {TITLE}", f"Retracted: {TITLE}", f"Retraction notice to: {TITLE}"):
        assert len(merge_duplicates([make_paper(), make_paper(title, source="crossref")])) == 2


def test_a_year_of_publication_comes_before_one_of_registration() -> None:
    registered = make_paper(doi="10.1000/x", year=2015, source="crossref", volume="3", pages="1-2", abstract="Full.")
    registered.provenance["year"] = "crossref" + REGISTRATION
    printed = make_paper(doi="10.1000/x", year=1926, source="openalex")
    found = merge_papers(registered, printed)
    assert (found.year, found.provenance["year"], found.has_registration_year) == (1926, "openalex", False)
    alone = merge_papers(registered, make_paper(doi="10.1000/x", year=None, source="openalex"))
    assert (alone.year, alone.has_registration_year) == (2015, True)


def test_a_year_of_registration_does_not_separate_two_records() -> None:
    registered = make_paper(year=2015, source="crossref", provenance={"year": "crossref" + REGISTRATION})
    assert merge_papers(registered, make_paper(year=1926, source="openalex")).year == 1926


def test_editors_of_any_record_are_merged() -> None:
    edited = make_anonymous_paper(doi="10.1000/x", source="crossref", editors=[Author(name="Eda Kiln")])
    found = merge_papers(edited, make_anonymous_paper(doi="10.1000/x", source="openalex"))
    assert (found.editors, found.provenance["editors"]) == ([Author(name="Eda Kiln")], "crossref")
