"""Small sample collections, and Hypothesis strategies for hostile ones."""

import unicodedata
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from paper_search.editorial_notices import EditorialNotice, NoticeStatus
from paper_search.models import Author, Paper, PaperCollection, SearchMetadata, SearchStrategy, WorkType
from uraniborg.kernel.bibliography.plain_text import to_one_line

untimed = settings(deadline=None)
"""Settings without a deadline: the duration of an example depends on the machine."""

TEX = "&%_#{}$^~\\\"'`-<>,?!@=|*[]"

hostile_text = st.text(
    st.one_of(st.characters(codec="utf-8"), st.sampled_from(TEX + "\n\t\r\x00\u2028 aé")), max_size=60
)
"""Any text, with many characters that are markup in TeX, Markdown and line-based formats."""

author_names = st.one_of(
    hostile_text,
    st.lists(
        st.sampled_from(
            ["Lei", "Wang", "van", "de", "and", "others", "Jr.", "J.", "JD", "Ünal", "王", "Kim", "A,", "Team"]
        ),
        min_size=1,
        max_size=5,
    ).map(" ".join),
)

dois = st.text("abcXYZ0189._;()/:<>%#&-", min_size=1, max_size=30).map(lambda suffix: f"10.1234/{suffix}")


def paper(title: str = "Perovskite solar cells", *authors: str, **fields: Any) -> Paper:
    return Paper(id="p_1", source="made up", title=title, authors=[Author(name=name) for name in authors], **fields)


def collection(*papers: Paper) -> PaperCollection:
    metadata = SearchMetadata(
        query="perovskite",
        search_strategy=SearchStrategy(queries=[], sources=[]),
        total_found=len(papers),
        timestamp="2024-05-01T12:00:00+00:00",
    )
    return PaperCollection(metadata=metadata, papers=list(papers))


RETRACTION = EditorialNotice(
    status=NoticeStatus.RETRACTED, source="crossref", date="2010-02-06", notice_doi="10.1000/r_2", label="Retraction"
)
FLAG = EditorialNotice(status=NoticeStatus.RETRACTED, source="openalex")
CONCERN = EditorialNotice(status=NoticeStatus.CONCERN, source="pubmed", date="2009", notice_doi="10.1000/c")
CORRECTION = EditorialNotice(status=NoticeStatus.CORRECTED, source="crossref", date="2004-03", notice_doi="10.1000/e")

papers = st.builds(
    Paper,
    id=st.just("p_1"),
    source=st.just("made up"),
    title=hostile_text,
    authors=st.lists(author_names.map(lambda name: Author(name=name)), max_size=4),
    year=st.none() | st.integers(1, 2100),
    venue=st.none() | hostile_text,
    doi=st.none() | dois,
    full_text_url=st.none() | hostile_text,
    volume=st.none() | hostile_text,
    pages=st.sampled_from([None, "1-10", "e17", "3 – 4", "12"]),
    publisher=st.none() | hostile_text,
    work_type=st.none() | st.sampled_from(WorkType),
    editors=st.sampled_from([[], [Author(name="")], [Author(name="Tom Reed"), Author(name="Ada Brook")]]),
    notices=st.sampled_from([[], [RETRACTION, FLAG], [CONCERN], [CORRECTION]]),
    identifiers=st.sampled_from([{}, {"arxiv": "2301.00001"}]),
    relevance_score=st.floats(0, 1),
    # By default Hypothesis would also generate the fields that no format exports.
    issue=st.none(),
    language=st.none(),
    abstract=st.none(),
    bibtex=st.none(),
    citation_count=st.just(0),
    records=st.just([]),
    provenance=st.just({}),
    relevance_reason=st.just(""),
    tags=st.just([]),
    sources=st.just([]),
)
collections = st.lists(papers, max_size=4).map(lambda made: collection(*made))


def composed(text: str) -> str:
    """Return the text as exports write it: on one line, in composed Unicode form."""
    return to_one_line(unicodedata.normalize("NFC", to_one_line(text)))


def list_authors(paper: Paper) -> list[str]:
    return [name for author in paper.authors if (name := composed(author.name))]


def list_people(paper: Paper) -> list[str]:
    """Return the authors, or the editors of a paper without authors."""
    return list_authors(paper) or [name for editor in paper.editors if (name := composed(editor.name))]
