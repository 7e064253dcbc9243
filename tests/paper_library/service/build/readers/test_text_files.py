"""Text files of any encoding up to a limit, and titles made from file names."""

import codecs
from pathlib import Path

import pytest

from paper_library.service.build.readers import texts_and_dates
from paper_library.service.build.readers.texts_and_dates import (
    UnreadableInput,
    decode_text,
    make_title_from_stem,
    read_bytes,
    read_text_lines,
)


@pytest.mark.parametrize(
    ("stem", "title"),
    [
        ("attention_is-all_you_need", "Attention is all you need"),
        ("A well-known title", "A well-known title"),
        ("smith2020", "Smith2020"),
        ("2301.00001", "2301.00001"),
        ("___", "Untitled"),
    ],
)
def test_a_file_name_makes_a_title(stem: str, title: str) -> None:
    assert make_title_from_stem(stem) == title


def test_a_file_over_the_limit_is_refused_and_one_at_the_limit_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit = 3 << 20
    path = tmp_path / "a.bib"
    path.write_bytes(b"a" * limit)
    monkeypatch.setattr(texts_and_dates, "MAX_TEXT_BYTES", limit)
    assert read_bytes(path, limit) == b"a" * limit
    assert "".join(read_text_lines(path)) == "a" * limit
    path.write_bytes(b"a" * (limit + 1))
    for read in (lambda: read_bytes(path, limit), lambda: list(read_text_lines(path))):
        with pytest.raises(UnreadableInput) as refused:
            read()
        assert refused.value.sentence == "The file is larger than 3 MB. Split it into smaller files."


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("Ærø".encode(), "Ærø"),
        ("Ærø".encode("utf-8-sig"), "Ærø"),
        ("Ærø".encode("utf-16"), "Ærø"),
        (codecs.BOM_UTF16_BE + "Ærø".encode("utf-16-be"), "Ærø"),
        ("Ærø".encode("cp1252"), "Ærø"),
        (b"\x93quoted\x94 \x81", "“quoted” \x81"),
        (codecs.BOM_UTF16_LE + b"a\x00" + b"\x00\xd8" + b"b\x00", "a\ufffdb"),
    ],
)
def test_text_is_decoded_by_its_mark_else_as_utf_8_with_old_bytes(data: bytes, text: str, tmp_path: Path) -> None:
    assert decode_text(data) == text
    (tmp_path / "a.txt").write_bytes(data)
    assert "".join(read_text_lines(tmp_path / "a.txt")) == text


def test_text_that_utf_8_cannot_express_is_still_refused_where_it_is_written() -> None:
    with pytest.raises(UnicodeEncodeError):
        "\ud800".encode("utf-8", "uraniborg.windows-1252")
