"""Requests to every tool and resource of the server, successful and failing."""

from collections.abc import Iterator
from typing import Any

from tests.paper_library.mcp import inputs
from tests.paper_library.mcp.http_client import make_initialize_request, make_request

PAPERS = [
    inputs.ATTENTION_DOI,
    inputs.SOURCELESS,
    inputs.LONG,
    "nobody",
    "../..",
    "10.5555/bcarotene.9",
]
KINDS = ["metadata", "summary", "summary/deep_read", "summary/none", "source", "translation/zh", "translation/xx", "no"]


def list_requests() -> Iterator[dict[str, Any]]:
    """Return a successful and a failing request for every tool and kind of resource."""
    yield make_initialize_request()
    for method in ("tools/list", "resources/list", "resources/templates/list", "no/such/method"):
        yield make_request(method)
    calls: list[tuple[str, dict[str, Any]]] = [
        ("search_papers", {"query": ""}),
        ("search_papers", {"query": "rain radar"}),
        ("search_papers", {"query": "x" * 501}),
        ("search_papers_by_keyword", {"keyword": "gravel"}),
        ("no_such_tool", {}),
        *(
            ("list_top_facets", {"category": kind})
            for kind in ("author", "venue", "keyword", "institution", "tag", "?")
        ),
    ]
    for paper in PAPERS:
        calls.append(("get_paper_metadata", {"paper_id": paper}))
        calls += [("get_paper_source", {"paper_id": paper, "lang": lang}) for lang in (None, "zh")]
        calls.append(("read_paper_section", {"paper_id": paper, "section": "Data"}))
        calls += [("export_citations", {"paper_ids": [paper], "format": name}) for name in ("bibtex", "ris", "?")]
        calls += [
            ("get_paper_summary", {"paper_id": paper, "template": template}) for template in (None, "deep_read", "none")
        ]
    for name, arguments in calls:
        yield make_request("tools/call", {"name": name, "arguments": arguments})
    for paper in ("oztuerk2021attention", inputs.SOURCELESS, inputs.LONG, "nobody"):
        for kind in KINDS:
            yield make_request("resources/read", {"uri": f"paper://{paper}/{kind}"})
