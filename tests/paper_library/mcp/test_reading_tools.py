"""`get_paper_summary` and `get_paper_source`: the content, complete or in pieces."""

import json
import re
from pathlib import Path

import pytest

from paper_library.config import LibraryConfig
from paper_library.service.build.builder import build_shelf
from tests.paper_library.mcp import inputs
from tests.paper_library.mcp.http_client import Caller, serve_library
from tests.requirements import requirement

MARKER = re.compile(r"\n\n\[truncated: (\d+) of (\d+) characters left; continue with offset=(\d+)\]\Z")


def split_at_marker(text: str, total: int) -> tuple[str, int]:
    """Return a cut text without its marker, and the offset in the marker; check the marker's numbers."""
    found = MARKER.search(text)
    assert found, text[-200:]
    left, whole, offset = map(int, found.groups())
    assert whole == total
    assert offset + left == total
    return text[: found.start()], offset


@requirement("PL-11")
@pytest.mark.parametrize(("template", "value"), [("deep_read", inputs.DEEP_READ), ("brief", inputs.BRIEF)])
def test_a_summary_is_the_whole_json_of_its_template(library: Caller, template: str, value: object) -> None:
    text = library.call_text("get_paper_summary", paper_id=inputs.ATTENTION_DOI, template=template)
    assert json.loads(text) == value


@requirement("PL-11")
def test_without_a_template_the_preferred_summary_is_read(library: Caller) -> None:
    preferred = library.call_structured("get_paper_metadata", paper_id=inputs.ATTENTION_DOI)[
        "preferred_summary_template"
    ]
    unnamed = library.call_text("get_paper_summary", paper_id=inputs.ATTENTION_DOI)
    assert unnamed == library.call_text("get_paper_summary", paper_id=inputs.ATTENTION_DOI, template=preferred)
    assert unnamed != library.call_text("get_paper_summary", paper_id=inputs.ATTENTION_DOI, template="default")


@requirement("PL-11")
@pytest.mark.parametrize("paper", [inputs.ATTENTION_DOI, inputs.SOURCELESS, inputs.LONG, "filler00"])
def test_every_paper_has_a_default_summary_with_abstract_outline_and_sentences(library: Caller, paper: str) -> None:
    metadata = library.call_structured("get_paper_metadata", paper_id=paper)
    summary = json.loads(library.call_text("get_paper_summary", paper_id=paper, template="default"))
    assert summary["abstract"] == metadata["abstract"]
    assert summary["outline"] == [one["title"] for one in metadata["outline"]]
    assert isinstance(summary["key_sentences"], list)


@requirement("PL-12")
@pytest.mark.parametrize(
    ("paper", "file"),
    [
        (inputs.ATTENTION_DOI, inputs.ATTENTION),
        ("10.5555/bcarotene.9", inputs.CAROTENE),
    ],
)
def test_a_source_is_returned_as_markdown_unchanged(library: Caller, paper: str, file: str) -> None:
    assert library.call_text("get_paper_source", paper_id=paper) == inputs.strip_front_matter(file)


@requirement("PL-12", "PL-15")
@pytest.mark.parametrize("arguments", [{}, {"max_chars": None}])
def test_a_long_source_is_cut_at_20000_characters_unless_max_chars_is_given(
    library: Caller, arguments: dict[str, None]
) -> None:
    whole = inputs.make_long_text()
    text, offset = split_at_marker(library.call_text("get_paper_source", paper_id=inputs.LONG, **arguments), len(whole))
    assert (text, offset) == (whole[:20_000], 20_000)
    assert library.call_text("get_paper_source", paper_id=inputs.LONG, max_chars=len(whole)) == whole


@requirement("PL-11", "PL-15")
def test_a_long_summary_is_complete_unless_limited(tmp_path: Path) -> None:
    inputs.write_inputs(tmp_path)
    summary = {"text": "rain " * 30_000}
    (tmp_path / "summaries" / "brief" / "oztuerk2021attention.json").write_text(json.dumps(summary))
    build_shelf([tmp_path / "papers"], tmp_path / "shelf", summaries=tmp_path / "summaries")
    with serve_library(LibraryConfig(shelf=tmp_path / "shelf")) as caller:
        arguments = {"paper_id": inputs.ATTENTION_DOI, "template": "brief"}
        assert json.loads(caller.call_text("get_paper_summary", **arguments)) == summary
        split_at_marker(
            caller.call_text("get_paper_summary", **arguments, max_chars=500),
            len(json.dumps(summary, separators=(",", ":"))),
        )


@requirement("PL-12")
@pytest.mark.parametrize("lang", ["zh", "ZH"])
def test_the_text_is_read_in_another_language_with_lang(library: Caller, lang: str) -> None:
    text = library.call_text("get_paper_source", paper_id=inputs.ATTENTION_DOI, lang=lang)
    assert text == inputs.ATTENTION_ZH.strip()
    cut_text, offset = split_at_marker(
        library.call_text("get_paper_source", paper_id=inputs.ATTENTION_DOI, lang=lang, max_chars=9), len(text)
    )
    assert (cut_text, offset) == (text[:9], 9)


@requirement("PL-12", "PL-16")
def test_an_unavailable_language_is_refused_with_the_available_ones(library: Caller) -> None:
    error = library.call_error("get_paper_source", paper_id=inputs.ATTENTION_DOI, lang="tlh")
    assert error["code"] == "translation_not_available"
    assert (error["lang"], error["available_translations"]) == ("tlh", ["zh"])


@requirement("PL-12", "PL-16")
def test_a_paper_without_source_is_explicitly_not_available(library: Caller) -> None:
    error = library.call_error("get_paper_source", paper_id=inputs.SOURCELESS)
    assert error["code"] == "source_not_available"
    assert "not available" in error["message"]
    assert error["paper_id"] == library.find_paper_id(inputs.SOURCELESS)


@requirement("PL-15")
@pytest.mark.parametrize("size", [1, 10, 9_999, 10_000, 64_000])
def test_exactly_max_chars_characters_are_returned_before_the_marker(library: Caller, size: int) -> None:
    whole = inputs.make_long_text()
    text, offset = split_at_marker(
        library.call_text("get_paper_source", paper_id=inputs.LONG, max_chars=size), len(whole)
    )
    assert text == whole[:size]
    assert offset == size


@requirement("PL-15")
def test_a_text_that_fits_has_no_marker(library: Caller) -> None:
    whole = inputs.strip_front_matter(inputs.ATTENTION)
    for size in (len(whole), len(whole) + 1, 10_000_000):
        assert library.call_text("get_paper_source", paper_id=inputs.ATTENTION_DOI, max_chars=size) == whole


@requirement("PL-15")
@pytest.mark.parametrize("size", [6_000, 25_000])
def test_reading_from_each_marker_gives_the_whole_text(library: Caller, size: int) -> None:
    whole, offset = inputs.make_long_text(), 0
    pieces: list[str] = []
    while offset + size < len(whole):
        answer = library.call_text("get_paper_source", paper_id=inputs.LONG, max_chars=size, offset=offset)
        piece, offset = split_at_marker(answer, len(whole))
        pieces.append(piece)
    pieces.append(library.call_text("get_paper_source", paper_id=inputs.LONG, max_chars=size, offset=offset))
    assert "".join(pieces) == whole


@requirement("PL-15")
def test_a_summary_is_read_in_pieces_as_well(library: Caller) -> None:
    whole = library.call_text("get_paper_summary", paper_id=inputs.ATTENTION_DOI, template="deep_read")
    pieces: list[str] = []
    offset = 0
    while offset + 40 < len(whole):
        arguments = {
            "paper_id": inputs.ATTENTION_DOI,
            "template": "deep_read",
            "max_chars": 40,
            "offset": offset,
        }
        piece, offset = split_at_marker(library.call_text("get_paper_summary", **arguments), len(whole))
        assert len(piece) == 40
        pieces.append(piece)
    rest = library.call_text("get_paper_summary", paper_id=inputs.ATTENTION_DOI, template="deep_read", offset=offset)
    assert "".join(pieces) + rest == whole


@requirement("PL-15")
def test_an_offset_at_the_end_is_accepted_and_one_beyond_is_refused(library: Caller) -> None:
    whole = inputs.strip_front_matter(inputs.ATTENTION)
    assert library.call_text("get_paper_source", paper_id=inputs.ATTENTION_DOI, offset=len(whole) - 3) == whole[-3:]
    error = library.call_error("get_paper_source", paper_id=inputs.ATTENTION_DOI, offset=len(whole) + 1)
    assert (error["code"], error["argument"]) == ("invalid_argument", "offset")
    assert str(len(whole)) in error["allowed"] + error["hint"]


@requirement("PL-11", "PL-16")
def test_an_unknown_template_is_refused_with_the_available_ones(library: Caller) -> None:
    error = library.call_error("get_paper_summary", paper_id=inputs.ATTENTION_DOI, template="haiku")
    assert error["code"] == "template_not_available"
    assert error["template"] == "haiku"
    assert error["paper_id"] == library.find_paper_id(inputs.ATTENTION_DOI)
    assert set(error["available_summary_templates"]) == {"default", "deep_read", "brief"}


def test_reading_tools_return_only_text(library: Caller) -> None:
    result = library.call("get_paper_source", paper_id=inputs.ATTENTION_DOI)
    (block,) = result["content"]
    assert result.get("structuredContent", {"result": block["text"]}) == {"result": block["text"]}
