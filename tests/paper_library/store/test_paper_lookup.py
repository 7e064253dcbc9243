"""A paper is found by every spelling of its identifiers, and `show` completes a prefix of an id or key."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from paper_library.errors import PaperAmbiguous, PaperNotFound
from paper_library.service.build.builder import build_shelf
from paper_library.service.library import Library
from tests.paper_library.operations.command_runs import call_command, run_process

BIB = """
@article{knots2003, title={Knots of the North}, author={Lovelace, Ada}, year={2003},
  doi={10.1000/Knots.2003(1)}, eprint={math.GT/0309136}, archiveprefix={arXiv}, pmid={12345678}, pmcid={PMC7654321}}
@article{knots2004, title={Braids of the South}, author={Noether, Emmy}, year={2004}, eprint={2301.00001v2},
  archiveprefix={arXiv}}
@article{braids2005, title={Links in between}, author={Brahe, Sophie}, year={2005}}
"""


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lookup")
    (folder / "refs.bib").write_text(BIB, encoding="utf-8")
    build_shelf([folder / "refs.bib"], folder / "shelf")
    return folder / "shelf"


@pytest.fixture(scope="module")
def library(shelf: Path) -> Iterator[Library]:
    opened = Library.open(shelf)
    yield opened
    opened.close()


@pytest.mark.parametrize(
    "written",
    [
        "10.1000/knots.2003(1)",
        "10.1000/KNOTS.2003(1)",
        "doi.org/10.1000/knots.2003(1)",
        "www.doi.org/10.1000/knots.2003(1)",
        "https://doi.org/10.1000/knots.2003(1)?utm=1",
        "https://dx.doi.org/10.1000/Knots.2003(1)/#abstract",
        "HTTPS://DOI.ORG/10.1000/KNOTS.2003(1)",
        "https://doi.org/doi:10.1000/knots.2003(1)",
        "urn:doi:10.1000/knots.2003(1)",
        "info:doi/10.1000/knots.2003(1)",
        "10.1000/knots.2003(1)?utm=1",
        "10.1000/knots.2003(1)/",
        "<https://doi.org/10.1000/knots.2003(1)>",
        " “10.1000/knots.2003(1)” ",
        "https://onlinelibrary.example.org/doi/full/10.1000/knots.2003(1)/full?casa=1",
        "https://www.example.org/doi/pdf/10.1000%2Fknots.2003(1).pdf",
        "math.GT/0309136",
        "math/0309136",
        "MATH/0309136V3",
        "arXiv:math/0309136v2",
        "arxiv.org/abs/math.GT/0309136",
        "https://arxiv.org/pdf/math/0309136v1.pdf?download=1",
        "12345678",
        "PMID: 12345678",
        "pmid:012345678",
        "https://pubmed.ncbi.nlm.nih.gov/12345678/",
        "PMC7654321",
        "pmcid: pmc7654321.2",
        "https://www.ncbi.nlm.nih.gov/pmc/articles/PMC7654321/",
        "https://pmc.ncbi.nlm.nih.gov/articles/PMC7654321",
        "bib:knots2003",
        "KNOTS2003",
    ],
)
def test_every_spelling_of_an_identifier_finds_its_paper(library: Library, written: str) -> None:
    assert library.metadata(written)["title"] == "Knots of the North"


def test_a_paper_id_in_capitals_and_with_blanks_finds_its_paper(library: Library) -> None:
    known = library.metadata("knots2003")["paper_id"]
    assert library.metadata(f"  {known.upper()}\n")["paper_id"] == known


@pytest.mark.parametrize("written", ["arXiv:2301.00001v7", "2301.00001 [math.GT]", "arXiv: 2301.00001", "<2301.00001>"])
def test_every_version_of_an_arxiv_id_finds_its_paper(library: Library, written: str) -> None:
    assert library.metadata(written)["title"] == "Braids of the South"


def test_a_paper_known_without_its_subject_class_is_found_with_it(tmp_path: Path) -> None:
    (tmp_path / "a.bib").write_text(BIB.replace("math.GT/", "math/"), encoding="utf-8")
    build_shelf([tmp_path / "a.bib"], tmp_path / "shelf")
    assert Library.open(tmp_path / "shelf").metadata("math.GT/0309136v1")["title"] == "Knots of the North"


@pytest.mark.parametrize("written", ["arxiv:math.GT/0309136", "arxiv:math/0309136v2", "arxiv:MATH/0309136"])
def test_an_old_arxiv_id_is_searched_for_with_and_without_its_subject_class(library: Library, written: str) -> None:
    assert [hit["title"] for hit in library.search(written)["results"]] == ["Knots of the North"]


def test_one_paper_under_both_spellings_of_an_old_arxiv_id_is_one_paper(tmp_path: Path) -> None:
    for name, written in (("a", "math.GT/0309136"), ("b", "math/0309136")):
        entry = f"@misc{{{name}, title={{Title {name}}}, eprint={{{written}}}, archiveprefix={{arXiv}}}}"
        (tmp_path / f"{name}.bib").write_text(entry, encoding="utf-8")
    assert build_shelf([tmp_path / "a.bib", tmp_path / "b.bib"], tmp_path / "shelf").papers == 1


@pytest.mark.parametrize("written", ["", " ", "10.1000/", "nobody", "\0", "%", "x" * 10_000, "PMID:", "9" * 400])
def test_text_that_identifies_no_paper_is_not_found(library: Library, written: str) -> None:
    with pytest.raises(PaperNotFound):
        library.metadata(written)
    with pytest.raises(PaperNotFound):
        library.find_paper_id_by_prefix(written)


@pytest.mark.parametrize("begun", ["knots2003", "braids", "braids2", "bib:braids"])
def test_a_unique_prefix_of_a_bibtex_key_is_completed(library: Library, begun: str) -> None:
    assert (
        library.find_paper_id_by_prefix(begun)
        == library.metadata("braids2005" if "braids" in begun else "knots2003")["paper_id"]
    )


def test_a_unique_prefix_of_a_paper_id_is_completed(library: Library) -> None:
    for key in ("knots2003", "knots2004", "braids2005"):
        known = library.metadata(key)["paper_id"]
        assert library.find_paper_id_by_prefix(known[:10].upper()) == known


def test_a_prefix_of_several_papers_is_refused_with_the_candidates(library: Library) -> None:
    with pytest.raises(PaperAmbiguous) as refused:
        library.find_paper_id_by_prefix("knots")
    candidates = ["knots2003 (Knots of the North)", "knots2004 (Braids of the South)"]
    assert refused.value.ids["candidates"] == candidates


def test_only_show_completes_a_prefix(library: Library) -> None:
    with pytest.raises(PaperNotFound):
        library.metadata("braids")


def test_show_completes_a_prefix_in_a_separate_process(shelf: Path, tmp_path: Path) -> None:
    shown = run_process("show", shelf, "braids", cwd=tmp_path)
    assert (shown.code, shown.out.splitlines()[0]) == (0, "Links in between")
    assert run_process("show", shelf, "https://doi.org/10.1000/knots.2003(1)?utm=1", "--bibtex", cwd=tmp_path).code == 0


def test_show_lists_the_candidates_of_a_prefix(shelf: Path, capsys: pytest.CaptureFixture[str]) -> None:
    refused = call_command(capsys, "show", shelf, "knots", "--json")
    assert (refused.code, refused.error["code"]) == (3, "paper_ambiguous")
    assert "knots2004 (Braids of the South)" in refused.error["message"]


@pytest.mark.parametrize(
    ("broken", "title"),
    [
        ("knots203", "Knots of the North"),
        ("Knots2003x", "Knots of the North"),
        ("10.1000/knots.2003(2)", "Knots of the North"),
        ("doi:10.1000/knots.2008(1)", "Knots of the North"),
        ("2301.00002", "Braids of the South"),
        ("Lovelace 2003", "Knots of the North"),
        ("Noether, E. (2004)", "Braids of the South"),
        ("Brahe et al. 2005", "Links in between"),
    ],
)
def test_the_error_for_a_broken_id_names_the_paper_that_was_probably_meant(
    library: Library, broken: str, title: str
) -> None:
    with pytest.raises(PaperNotFound) as caught:
        library.metadata(broken)
    (meant,) = caught.value.nearest
    assert meant.endswith(f"({title})")
    assert caught.value.hint.startswith(f"Did you mean {meant}? ")
    assert library.metadata(meant.partition(" ")[0])["title"] == title


def test_a_wrong_digit_in_a_paper_id_names_the_paper(library: Library) -> None:
    paper_id = library.metadata("knots2003")["paper_id"]
    for at in (0, 15, 31):
        wrong = paper_id[:at] + ("0" if paper_id[at] != "0" else "1") + paper_id[at + 1 :]
        with pytest.raises(PaperNotFound, match=wrong) as caught:
            library.metadata(wrong)
        assert caught.value.nearest == [f"{paper_id} (Knots of the North)"]


@pytest.mark.parametrize(
    "unknown", ["10.1126/science.1243982", "0" * 32, "Lovelace 1843", "2005", "Nobody 2003", "\0", "x"]
)
def test_the_error_for_an_id_like_no_other_names_no_paper(library: Library, unknown: str) -> None:
    with pytest.raises(PaperNotFound) as caught:
        library.metadata(unknown)
    assert not caught.value.nearest


def test_of_a_large_shelf_the_keys_that_begin_like_the_broken_one_are_compared(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paper_library.store.shelf._MOST_COMPARED", 1)
    with pytest.raises(PaperNotFound) as caught:
        library.metadata("knots2103")
    assert [meant.partition("(")[2] for meant in caught.value.nearest] == ["Knots of the North)"]
