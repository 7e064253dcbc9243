"""The choice of a reader, and the behaviour of all readers with arbitrary files."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paper_library.domain.entries import BuildProblem, Entry
from paper_library.service.build.readers import READERS, find_reader
from tests.paper_library.service.build.readers.files import (
    get_only_problem,
    make_opening_fail,
    read_file,
    write_and_read,
    write_file,
)

SUFFIXES = sorted(READERS)
BEGINNINGS = {
    ".bib": b"@article{a, title = {",
    ".ris": b"TY  - JOUR\nTI  - ",
    ".json": b'[{"title": ',
    ".jsonl": b'{"title": "',
    ".md": b"---\ntitle: ",
    ".xml": b"<article><front><article-meta>",
    ".pdf": b"%PDF-1.4\n1 0 obj ",
}
REAL = {
    ".bib": b"@article{a, title = {A {B} $x$}, author = {C, D and {E}}, crossref = {b}}\n@book{b, title = {F}}",
    ".ris": b"TY  - JOUR\nTI  - A\nAU  - B, C\nPY  - 2000/01/02\nKW  - d\nER  - \n",
    ".json": b'{"papers": [{"title": "A", "authors": [{"name": "B"}], "issued": {"date-parts": [[2000, 1]]}}]}',
    ".jsonl": b'{"title": "A", "authors": "B and C", "date": "2000-01", "keywords": ["d"], "id": "10.1/x"}\n' * 2,
    ".md": b"---\ntitle: A\nauthors:\n  - name: B\n    affiliation: 1\n---\n# C\n\nAbstract\n---\n\nt\n```\n# x\n```\n",
    ".xml": b"<article><front><article-meta><title-group><article-title>A</article-title></title-group>"
    b"<pub-date><year>2000</year></pub-date></article-meta></front>"
    b"<body><sec><title>B</title><p>C<list><list-item/></list></p></sec></body></article>",
}

unhurried = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None)


def assert_well_formed(found: list[Entry | BuildProblem]) -> None:
    assert found
    for item in found:
        assert item.origin
        if isinstance(item, BuildProblem):
            assert item.reason[0].isupper()
            continue
        assert item.title
        texts = [item.title, *item.authors, *item.keywords, *item.tags, *item.institutions, *item.identifiers.values()]
        for text in texts:
            assert text == " ".join(text.split())
            assert text
            assert not any(ord(char) < 32 or 0xD800 <= ord(char) <= 0xDFFF for char in text)
        for text in (item.source, item.abstract):
            assert "\x00" not in text
            text.encode()


@pytest.mark.parametrize("suffix", SUFFIXES)
@unhurried
@given(data=st.binary(max_size=400))
def test_any_bytes_give_papers_or_problems_and_never_an_error(tmp_path: Path, suffix: str, data: bytes) -> None:
    assert_well_formed(write_and_read(tmp_path, f"file{suffix}", data))
    if suffix in BEGINNINGS:
        assert_well_formed(write_and_read(tmp_path, f"file{suffix}", BEGINNINGS[suffix] + data))


@pytest.mark.parametrize("suffix", sorted(REAL))
@unhurried
@given(data=st.data())
def test_a_real_file_damaged_anywhere_gives_papers_or_problems_and_never_an_error(
    tmp_path: Path, suffix: str, data: st.DataObject
) -> None:
    content = bytearray(REAL[suffix])
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content)))
        end = min(len(content), at + data.draw(st.integers(0, 6)))
        content[at:end] = data.draw(
            st.binary(max_size=6) | st.sampled_from([b"{", b"}", b'"', b"<", b"&", b"\x00", b"$"])
        )
    assert_well_formed(write_and_read(tmp_path, f"file{suffix}", bytes(content)))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_missing_file_a_folder_and_a_pipe_are_problems(tmp_path: Path, suffix: str) -> None:
    assert get_only_problem(read_file(tmp_path / f"gone{suffix}")).kind == "broken"
    (tmp_path / f"folder{suffix}").mkdir()
    assert get_only_problem(read_file(tmp_path / f"folder{suffix}")).kind == "broken"
    os.mkfifo(tmp_path / f"pipe{suffix}")
    problem = get_only_problem(read_file(tmp_path / f"pipe{suffix}"))
    assert "regular" in problem.reason
    assert str(tmp_path) not in problem.reason


@pytest.mark.parametrize("number", [errno.EACCES, errno.EIO, errno.ENAMETOOLONG, errno.ELOOP, errno.ENOENT])
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_file_that_cannot_be_opened_is_a_problem(
    tmp_path: Path, suffix: str, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_file(tmp_path, f"file{suffix}", b"x")
    make_opening_fail(monkeypatch, path.name, number)
    problem = get_only_problem(read_file(path))
    assert problem.kind == "broken"
    assert number == errno.ELOOP or os.strerror(number) in problem.reason
    assert str(tmp_path) not in problem.reason


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_full_disk_is_not_a_problem_of_the_file(tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_file(tmp_path, f"file{suffix}", b"x")
    make_opening_fail(monkeypatch, path.name, errno.EMFILE)
    with pytest.raises(OSError, match="Too many open files"):
        read_file(path)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_link_is_not_followed_by_a_reader(tmp_path: Path, suffix: str) -> None:
    write_file(tmp_path, "real", REAL.get(suffix, b"x"))
    (tmp_path / f"link{suffix}").symlink_to(tmp_path / "real")
    assert get_only_problem(read_file(tmp_path / f"link{suffix}")).kind == "broken"
    (tmp_path / "folder").symlink_to(tmp_path)
    write_file(tmp_path, f"file{suffix}", REAL.get(suffix, b"x"))
    assert get_only_problem(read_file(tmp_path / "folder" / f"file{suffix}")).kind == "broken"


def test_readers_are_found_by_the_end_of_the_name_in_any_case() -> None:
    assert find_reader(Path("a.BIB")) is READERS[".bib"]
    assert find_reader(Path("a.b.jsonl.GZ")) is READERS[".jsonl.gz"]
    assert find_reader(Path("paper.zh.md")) is READERS[".md"]
    assert find_reader(Path("a.gz")) is None
    assert find_reader(Path("a.txt")) is None
    assert find_reader(Path("bib")) is None


def test_a_build_imports_only_the_readers_that_it_needs(tmp_path: Path) -> None:
    path = write_file(tmp_path, "a.jsonl", b'{"title": "A", "authors": ["B"]}')
    code = (
        "import sys; from pathlib import Path; from paper_library.service.build.readers import find_reader; "
        f"path = Path({str(path)!r}); assert len(list(find_reader(path)(path, 'a'))) == 1; "
        "print([name for name in ('bibtexparser', 'pylatexenc', 'pypdf', 'yaml', 'defusedxml') if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert run.stdout.strip() == "[]"
