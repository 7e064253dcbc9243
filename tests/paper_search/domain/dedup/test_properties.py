"""Properties of deduplication for any records in any order."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from paper_search.domain.dedup import deduplicate, merge_duplicates
from paper_search.editorial_notices import EditorialNotice, NoticeStatus
from paper_search.models import Author, RawPaper, SourceRecord, WorkType

TITLES = [
    "",
    "Editorial",
    "Tidal dissipation in the mantles of small icy moons",
    "Tidal disipation in the mantles of small icy moons",
    "Tidal dissipation in the mantles of small icy moons, Part II",
    "Tidal dissipation in the mantles of small icy moons: a survey",
    "On tidal dissipation in mantles of icy moons",
    "Erratum: Tidal dissipation in the mantles of small icy moons",
    "RETRACTED: Tidal dissipation in the mantles of small icy moons",
    "Crater counting on the far side of Mercury 2018",
    "Crater counting on the far side of Mercury 2019",
    "Crater counting on the far side of Mercury",
    "基于深度学习的图像分割方法研究",
]
NAMES = [
    "Lei Wang",
    "Wang, L.",
    "L Wang",
    "Min Wang",
    "Jürgen Müller",
    "Mueller J",
    "et al.",
    "A. Kim and B. Lee",
    "王磊",
]
DOIS = [
    None,
    "10.1000/a",
    "https://doi.org/10.1000/A",
    "10.1000/b",
    "10.48550/arXiv.2101.00001",
    "10.1101/123456",
    "n/a",
]

NOTICES = [
    EditorialNotice(status=NoticeStatus.RETRACTED, source="a", date="2018-02-03", notice_doi="10.1000/r"),
    EditorialNotice(status=NoticeStatus.RETRACTED, source="b", notice_doi="10.1000/r"),
    EditorialNotice(status=NoticeStatus.RETRACTED, source="c"),
    EditorialNotice(status=NoticeStatus.CORRECTED, source="a", date="2018", notice_doi="10.1000/r"),
]

records = st.builds(
    RawPaper,
    title=st.sampled_from(TITLES),
    authors=st.lists(st.builds(Author, name=st.sampled_from(NAMES)), max_size=3),
    year=st.sampled_from([None, 2017, 2018, 2019]),
    venue=st.sampled_from([None, "arXiv", "Journal of Moons", "Conference on Moons"]),
    doi=st.sampled_from(DOIS),
    abstract=st.sampled_from([None, "Short.", "Not quite as short."]),
    work_type=st.sampled_from([None, WorkType.ARTICLE, WorkType.PREPRINT]),
    notices=st.lists(st.sampled_from(NOTICES), max_size=2),
    source=st.sampled_from(["a", "b", "c"]),
    identifiers=st.dictionaries(
        st.sampled_from(["arxiv", "pmid", "openalex"]), st.sampled_from(["2101.00001", "W1", "7"])
    ),
    records=st.lists(
        st.builds(SourceRecord, source=st.sampled_from(["a", "b"]), record_id=st.sampled_from(["1", "2", "3"])),
        max_size=1,
    ),
    citation_count=st.integers(0, 3),
)


def count_by_content(papers: list[RawPaper]) -> Counter[str]:
    return Counter(paper.model_dump_json() for paper in papers)


@given(st.lists(records, max_size=10).flatmap(lambda found: st.tuples(st.just(found), st.permutations(found))))
def test_any_order_gives_the_same_set(orders: tuple[list[RawPaper], list[RawPaper]]) -> None:
    one, other = deduplicate(orders[0]), deduplicate(orders[1])
    assert count_by_content(one.papers) == count_by_content(other.papers)
    assert one.merged == other.merged


@given(st.lists(records, max_size=10))
def test_deduplicating_again_changes_nothing(found: list[RawPaper]) -> None:
    once = merge_duplicates(found)
    again = deduplicate(once)
    assert again.papers == once
    assert again.merged == {}


@given(st.lists(records, max_size=10))
def test_ids_are_unique_and_every_record_is_accounted_for(found: list[RawPaper]) -> None:
    merged = deduplicate(found)
    assert len({paper.id for paper in merged.papers}) == len(merged.papers)
    assert sum(merged.merged.values()) == len(found) - len(merged.papers)
    assert sorted(position for members in merged.members for position in members) == list(range(len(found)))
    for paper, members in zip(merged.papers, merged.members, strict=True):
        own = {(record.source, record.record_id) for place in members for record in found[place].records}
        assert own <= {(record.source, record.record_id) for record in paper.records}
    given_records = {(record.source, record.record_id) for paper in found for record in paper.records}
    assert given_records <= {(record.source, record.record_id) for paper in merged.papers for record in paper.records}


@given(st.lists(records, max_size=10))
def test_no_paper_is_made_of_two_journal_dois(found: list[RawPaper]) -> None:
    traced = [
        paper.model_copy(update={"records": [SourceRecord(source=paper.source, record_id=str(place))]})
        for place, paper in enumerate(found)
    ]
    for paper in merge_duplicates(traced):
        origins = [found[int(record.record_id)] for record in paper.records]
        assert len({doi for origin in origins if (doi := get_journal_doi(origin))}) <= 1


def get_journal_doi(paper: RawPaper) -> str | None:
    of_preprint = paper.work_type is WorkType.PREPRINT and paper.identifiers.get("arxiv") != "2101.00001"
    return paper.doi[-1].lower() if paper.doi and "10.1000/" in paper.doi and not of_preprint else None


@given(
    st.lists(
        st.builds(RawPaper, title=st.text(), source=st.just("a"), authors=st.lists(st.builds(Author, name=st.text())))
    )
)
def test_any_text_can_be_deduplicated(found: list[RawPaper]) -> None:
    once = merge_duplicates(found)
    assert merge_duplicates(once) == once


@settings(deadline=None)
@given(st.lists(records, max_size=6))
def test_no_retraction_is_lost_or_added(found: list[RawPaper]) -> None:
    statuses = {(notice.status, notice.notice_doi) for record in found for notice in record.notices}
    papers = merge_duplicates(found)
    assert {(notice.status, notice.notice_doi) for paper in papers for notice in paper.notices} == statuses
    assert any(record.retraction for record in found) == any(paper.retraction for paper in papers)
