"""Pages of the removed papers: every paper once, in order of the reasons and scores, with what is known of it."""

from itertools import pairwise
from typing import Any

from paper_search.domain.review_models import Exclusion, ExclusionReason
from paper_search.models import Author, Paper, PaperCollection, SearchMetadata, SearchStrategy
from paper_search.service.reply_parts import count_json_bytes
from paper_search.service.review.paper_pages import build_removed_page
from paper_search.service.session_replies import RemovedPage

PAGE_BYTES = 24_000


def make_exclusion(paper_id: str, reason: ExclusionReason, **fields: Any) -> Exclusion:
    return Exclusion(paper_id=paper_id, title=f"Moon {paper_id}", reason=reason, **fields)


def make_collection(
    *exclusions: Exclusion, removed: tuple[Paper, ...] = (), excluded: tuple[Paper, ...] = ()
) -> PaperCollection:
    about = SearchMetadata(
        query="moons",
        search_strategy=SearchStrategy(queries=[], sources=["alpha"]),
        total_found=0,
        exclusions=list(exclusions),
    )
    return PaperCollection(metadata=about, papers=[], removed_papers=list(removed), excluded_papers=list(excluded))


def read_all_pages(collection: PaperCollection) -> list[RemovedPage]:
    pages = [build_removed_page("s", collection, 0)]
    while (address := pages[-1].next) is not None:
        begin, _, offset = address.rpartition("/")
        assert begin == "paper-search://sessions/s/removed"
        pages.append(build_removed_page("s", collection, int(offset)))
    return pages


def test_all_pages_together_have_every_paper_once_and_each_fits_into_a_reply() -> None:
    exclusions = [
        make_exclusion(f"p{number}", ExclusionReason.BY_PERSON, detail="far " * 70, reviewer="Ada")
        for number in range(200)
    ]
    pages = read_all_pages(make_collection(*exclusions))
    assert len(pages) > 2
    assert [paper.id for page in pages for paper in page.papers] == [one.paper_id for one in exclusions]
    assert [page.offset for page in pages] == [sum(len(one.papers) for one in pages[:at]) for at in range(len(pages))]
    assert all(page.total_papers == 200 for page in pages)
    for page in pages:
        assert sum(map(count_json_bytes, page.papers)) <= PAGE_BYTES
    for page, after in pairwise(pages):
        first_of_next = count_json_bytes(after.papers[0])
        assert sum(map(count_json_bytes, page.papers)) + first_of_next > PAGE_BYTES


def test_reasons_are_in_the_order_of_the_search_and_higher_scores_first() -> None:
    below = ExclusionReason.BELOW_THRESHOLD
    collection = make_collection(
        make_exclusion("person", ExclusionReason.BY_PERSON),
        make_exclusion("low", below, score=0.12345, threshold=0.5),
        make_exclusion("high", below, score=0.4),
        make_exclusion("none", below),
        make_exclusion("year", ExclusionReason.YEAR),
    )
    page = build_removed_page("s", collection, 0)
    assert [paper.id for paper in page.papers] == ["year", "high", "low", "none", "person"]
    assert [paper.score for paper in page.papers] == [None, 0.4, 0.123, None, None]
    assert page.papers[2].threshold == 0.5
    assert page.counts == {"year": 1, "below_threshold": 3, "by_person": 1}
    assert page.next is None


def test_a_paper_that_is_stored_in_full_has_its_facts_cut_to_size() -> None:
    paper = Paper(
        id="long",
        title="Moon",
        authors=[Author(name=name) for name in ("A" * 41, "B", "C", "D")],
        year=1610,
        venue="V" * 61,
        abstract="a" * 601,
        source="alpha",
    )
    by_person = make_exclusion("long", ExclusionReason.BY_PERSON, reviewer="R" * 101, detail="d" * 301, round=2)
    short = paper.model_copy(update={"id": "short", "venue": "V" * 60, "abstract": "a" * 600, "authors": []})
    collection = make_collection(
        by_person,
        make_exclusion("short", ExclusionReason.BY_PERSON),
        make_exclusion("unknown", ExclusionReason.BY_PERSON),
        removed=(paper,),
        excluded=(short,),
    )
    long, other, unknown = build_removed_page("s", collection, 0).papers
    assert long.authors == ["A" * 39 + "…", "B", "C"]
    assert (long.year, long.venue, long.abstract) == (1610, "V" * 59 + "…", "a" * 599 + "…")
    assert (long.reviewer, long.detail, long.found_in_round) == ("R" * 99 + "…", "d" * 299 + "…", 2)
    assert (other.venue, other.abstract, other.authors) == ("V" * 60, "a" * 600, [])
    assert (unknown.title, unknown.year, unknown.venue, unknown.abstract) == ("Moon unknown", None, None, None)


def test_a_page_after_the_last_paper_is_empty() -> None:
    page = build_removed_page("s", make_collection(make_exclusion("a", ExclusionReason.YEAR)), 1)
    assert (page.papers, page.total_papers, page.offset, page.next) == ([], 1, 1, None)
