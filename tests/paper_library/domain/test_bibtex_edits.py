"""Generated BibTeX entries, and edited ones."""

# pyright: reportArgumentType=false

from typing import Any

import pytest

from paper_library.domain.citations import (
    add_fields,
    make_bibtex_entry_of_metadata,
    remove_file_fields,
    remove_paper_id,
    replace_key,
)

METADATA: dict[str, Any] = {
    "paper_id": "0" * 32,
    "title": "Fish & {Chips}: 100% of a_b",
    "authors": ["Ada Lovelace", "Tycho Brahe"],
    "year": 1843,
    "venue": "Notes & Queries",
    "kind": "",
    "identifiers": {"doi": "10.1000/xyz"},
    "keywords": ["sea"],
    "abstract": "",
    "language": "",
}


def test_an_entry_generated_from_metadata_can_be_read_back() -> None:
    from pathlib import Path
    from tempfile import TemporaryDirectory

    from paper_library.domain.entries import Entry
    from paper_library.service.build.readers import find_reader

    with TemporaryDirectory() as folder:
        path = Path(folder) / "made.bib"
        path.write_text(make_bibtex_entry_of_metadata(METADATA), encoding="utf-8")
        reader = find_reader(path)
        assert reader is not None
        (entry,) = reader(path, "made.bib")
    assert isinstance(entry, Entry)
    assert (entry.title, entry.authors, entry.year) == (
        "Fish & {Chips}: 100% of a_b",
        ["Ada Lovelace", "Tycho Brahe"],
        1843,
    )
    assert (entry.venue, entry.identifiers["doi"], entry.identifiers["bibkey"]) == (
        "Notes & Queries",
        "10.1000/xyz",
        "lovelace_1843_fish",
    )


@pytest.mark.parametrize(
    "field",
    [
        "file = {/home/ada/papers/x.pdf}",
        "file = {Full Text:/home/ada/{odd} name.pdf:application/pdf}",
        "local-url = {file:///home/ada/x.pdf}",
        'File = "/home/ada/x.pdf"',
        "bdsk-file-1 = {YnBsaXN0/home/ada}",
    ],
)
def test_local_file_paths_are_removed_and_other_fields_do_not_change(field: str) -> None:
    entry = f"@article{{k,\n  title = {{A {{file}} of papers}},\n  {field},\n  year = 1843\n}}"
    left = remove_file_fields(entry)
    assert "ada" not in left
    assert left == "@article{k,\n  title = {A {file} of papers},\n  year = 1843\n}"


@pytest.mark.parametrize(
    ("entry", "renamed"),
    [
        ("@article{k,\n  year = 1843\n}", "@article{new,\n  year = 1843\n}"),
        ("@article{ new ,\n  year = 1843\n}", "@article{ new ,\n  year = 1843\n}"),
        ("  @Misc( a:b , year=1843)", "  @Misc(new, year=1843)"),
        ("@misc{,title={x}}", "@misc{new,title={x}}"),
        ("@misc{title={x}}", "@misc{title={x}}"),
        ("no entry", "no entry"),
    ],
)
def test_a_key_is_replaced_and_the_rest_does_not_change(entry: str, renamed: str) -> None:
    assert replace_key(entry, "new") == renamed


def test_an_added_paper_id_can_be_removed() -> None:
    entry = "@article{k,\n  title = {A star},\n  year = 1843\n}"
    named = add_fields(entry, {"paperid": "0" * 32})
    assert named == f"@article{{k,\n  paperid = {{{'0' * 32}}},\n  title = {{A star}},\n  year = 1843\n}}"
    assert remove_paper_id(named) == entry
