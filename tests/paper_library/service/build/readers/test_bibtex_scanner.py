"""BibTeX read piece by piece: the same entries as from the whole text, and memory that does not grow with the file."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paper_library.service.build.readers.bibtex import FieldInheritance
from paper_library.service.build.readers.bibtex_scanner import MAX_ENTRY_CHARS, BibtexBlock, Damage, scan_blocks
from tests.paper_library.service.build.readers.files import select_entries, select_problems, write_and_read
from tests.paper_library.service.build.readers.memory import measure_peak_memory

PART = st.sampled_from(
    [
        "@article{key, title = {A {B} study}, year = 2001}\n",
        "@article{next,\n  title = {Several\n lines},\n  journal = jnl # { of } # jnl\n}\n",
        '@string{jnl = "Journal"}\n@string(other = {Another})\n',
        "@misc(paren, title = {In parentheses}, note = other)\n",
        "@comment{@article{away, title = {Put away}}}\n",
        "@comment{several\n@article{away2, title = {Put away too}}\nlines}\n",
        '@preamble{"\\newcommand{x}{y}"}\n',
        "@incollection{child, title = {Child}, crossref = {book}}\n@book{book, title = {Book}, year = 1999}\n",
        "@article{early, title = {Ended}}, year = {2001}}\n",
        "@article{open, title = {Never closed\n",
        "words between entries, someone@example.org\n",
        "@article{one, title = {One}} @article{two, title = {Two}} ",
        "\n",
        "é 天 ",
    ]
)


def cut_lines(text: str, size: int) -> Iterator[str]:
    """Yield the lines of a text, those longer than `size` in pieces."""
    for line in text.splitlines(keepends=True):
        for start in range(0, len(line), size):
            yield line[start : start + size]


@settings(deadline=None)
@given(parts=st.lists(PART, max_size=40), size=st.integers(40, 400), room=st.integers(300, 3_000))
def test_the_size_of_the_pieces_does_not_change_the_entries(parts: list[str], size: int, room: int) -> None:
    text = "".join(parts).replace("@article{open, title = {Never closed\n", "@article{open, title = {Never closed\n\n")
    whole = list(scan_blocks([*text.splitlines(keepends=True)], max_entry_chars=1 << 30))
    reasons = [block.reason for block in scan_blocks(cut_lines(text, size), room) if isinstance(block, Damage)]
    if not any("longer than" in reason for reason in reasons):
        assert list(scan_blocks(cut_lines(text, size), room)) == whole
    assert list(scan_blocks(cut_lines(text, size))) == whole


def test_entries_on_one_line_longer_than_any_window_are_all_found() -> None:
    text = " ".join(f"@article{{k{number}, title = {{Title {number}}}}}" for number in range(2_000))
    found = list(scan_blocks(cut_lines(f"\n\n{text}\n\n@misc{{last, title = {{L}}}}", 100), 400))
    assert [block.key for block in found if isinstance(block, BibtexBlock)] == [
        *(f"k{n}" for n in range(2_000)),
        "last",
    ]
    assert {block.line for block in found} == {3, 5}


@pytest.mark.parametrize("end", ["", "}}"])
def test_an_entry_beyond_the_limit_is_reported_with_its_line_and_the_others_are_read(tmp_path: Path, end: str) -> None:
    long = "@article{long, abstract = {" + f"{'words ' * 500}\n" * (MAX_ENTRY_CHARS // 1_000) + end
    found = write_and_read(tmp_path, "a.bib", f"@misc{{a, title = {{A}}}}\n{long}\n@misc{{b, title = {{B}}}}\n")
    assert [entry.title for entry in select_entries(found)] == ["A", "B"]
    (problem,) = select_problems(found)
    assert (problem.origin, problem.kind) == ("a.bib:2", "broken")
    assert "longer than 4 MB" in problem.reason
    assert select_entries(found)[1].origin == f"a.bib:{long.count(chr(10)) + 3}"


def test_an_entry_just_within_the_limit_is_read(tmp_path: Path) -> None:
    frame = "@article{long, title = {T}, annote = {}}"
    text = "x" * (MAX_ENTRY_CHARS - len(frame))
    assert len(select_entries(write_and_read(tmp_path, "a.bib", frame.replace("{}", f"{{{text}}}")))) == 1
    assert not select_entries(write_and_read(tmp_path, "a.bib", frame.replace("{}", f"{{{text}x}}")))


def test_macros_and_parents_apply_across_all_pieces_of_a_file(tmp_path: Path) -> None:
    filling = "".join(f"@misc{{m{n}, title = {{Filling {n}}}, note = {{{'word ' * 20_000}}}}}\n" for n in range(120))
    text = (
        "@string{jnl = {The Journal}}\n@incollection{early, title = {Early}, crossref = {Book}}\n"
        f"{filling}@book{{book, title = {{The Book}}, year = 1999}}\n"
        f"@article{{late, title = {{Late}}, journal = jnl}}\n{filling.replace('{m', '{n')}"
        "@inbook{last, title = {Last}, xdata = {common}}\n@xdata{common, publisher = {Common}}\n"
    )
    assert len(text) > 2 * MAX_ENTRY_CHARS
    found = {entry.identifiers["bibkey"]: entry for entry in select_entries(write_and_read(tmp_path, "a.bib", text))}
    assert len(found) == 244
    assert (found["early"].venue, found["early"].year) == ("The Book", 1999)
    assert found["late"].venue == "The Journal"
    assert found["last"].publisher == "Common"


def test_the_last_entry_with_a_key_is_the_parent_and_passes_on_inherited_fields() -> None:
    text = (
        "@book{b, title = {Old}}\n@book{b, title = {Book}, crossref = {series}}\n@inbook{c, crossref = {b}}\n"
        "@mvbook{series, publisher = {House}}\n"
    )
    inheritance = FieldInheritance()
    for block in scan_blocks(text.splitlines(keepends=True)):
        assert isinstance(block, BibtexBlock)
        inheritance.store_parent_and_defer_child(block)
    book, chapter = inheritance.read_deferred_children()
    assert book.fields["publisher"] == "House"
    assert (chapter.fields["booktitle"], chapter.fields["publisher"]) == ("Book", "House")
    inheritance.close()


def test_macros_longer_than_the_limit_together_are_problems(tmp_path: Path) -> None:
    macros = "".join(f"@string{{m{number} = {{{'x' * 9_000}}}}}\n" for number in range(2_000))
    found = write_and_read(tmp_path, "a.bib", f"{macros}@misc{{a, title = {{A}}, note = m0}}\n")
    assert len(select_entries(found)) == 1
    assert all("16 MB" in problem.reason for problem in select_problems(found))
    assert select_problems(found)


KINDS = ("entries", "one line", "one entry", "unclosed", "children", "parents", "comment", "no entries", "fields")


@pytest.mark.parametrize("kind", ["one entry", "unclosed", "children"])
def test_a_large_file_is_read_in_the_memory_of_a_few_entries(tmp_path: Path, kind: str) -> None:
    assert measure_peak_memory(tmp_path / "large.bib", kind, megabytes=32) < 64


@pytest.mark.soak
@pytest.mark.timeout(1_800)
@pytest.mark.parametrize("kind", KINDS)
def test_two_hundred_megabytes_are_read_in_less_than_half_of_their_size(tmp_path: Path, kind: str) -> None:
    assert measure_peak_memory(tmp_path / "large.bib", kind, megabytes=200) < 96
