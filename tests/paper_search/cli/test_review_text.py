"""Tests of the pages of a review at the terminal."""

from paper_search.cli.review_text import format_paper, format_paper_list
from paper_search.editorial_notices import EditorialNotice, NoticeStatus
from paper_search.models import Paper

RETRACTION = EditorialNotice(status=NoticeStatus.RETRACTED, source="crossref", date="2010", notice_doi="10.1000/r")


def test_a_retracted_paper_is_marked_on_its_page_and_in_the_list() -> None:
    retracted = Paper(id="p_1", title="Cells", source="crossref", notices=[RETRACTION])
    sound = Paper(id="p_2", title="Kilns", source="crossref")
    page = format_paper(retracted, None, "1/2", 100).splitlines()
    assert page[1:3] == ["RETRACTED: Cells", "Retracted 2010 (notice doi:10.1000/r, source crossref)"]
    assert "etracted" not in format_paper(sound, None, "2/2", 100)
    lines = format_paper_list([retracted, sound], {}, 100).splitlines()
    assert lines[0].endswith("---- RETRACTED: Cells")
    assert lines[1].endswith("---- Kilns")
