"""One paper in full: an abstract of any length is shown in part."""

from typing import Any

from paper_search.service.review.paper_details import build_paper_details
from paper_search.service.review.reviewer_view import ReviewerView
from tests.paper_search.workflow.samples import make_collection

ABSTRACT = "Tidal heating of an icy moon. " * 350_000


def test_an_abstract_of_ten_megabytes_is_cut_and_its_length_is_exact() -> None:
    collection = make_collection("a")
    paper = collection.papers[0].model_copy(update={"abstract": ABSTRACT})
    details: Any = build_paper_details(1, paper, collection, ReviewerView("Ada", {}), {"records": [], "fields": []})
    assert "".join(node["text"] for node in details["abstract_tree"]) == ABSTRACT[:20_000]
    assert details["abstract_chars"] == len(ABSTRACT) == 10_500_000
    assert any(node.get("matched") for node in details["abstract_tree"])
