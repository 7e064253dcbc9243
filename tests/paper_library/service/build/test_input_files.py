"""The files that a build reads, their origins, and the problems of other files."""

from pathlib import Path

import pytest

from paper_library.domain.entries import BuildProblem, Entry
from paper_library.errors import InputNotFound
from paper_library.service.build.input_files import InputFile, find_input_files

BIB = "@article{fish2019, title={Deep Fish}, year={2019}}\n"
PAPER = "---\ntitle: Deep Fish\n---\n\nThey swim.\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    return tmp_path / "in"


def write_file(folder: Path, name: str, content: str = PAPER) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
    return path


def list_origins(inputs: list[InputFile]) -> list[str]:
    return [one.origin for one in inputs]


def read_all_entries(inputs: list[InputFile]) -> list[Entry]:
    return [found for one in inputs for found in one.read_entries() if isinstance(found, Entry)]


def test_origins_are_relative_to_the_given_folder(folder: Path) -> None:
    write_file(folder, "b.bib", BIB)
    write_file(folder, "deep/er/a.md")
    inputs, problems = find_input_files([folder])
    assert (list_origins(inputs), problems) == (["b.bib", "deep/er/a.md"], [])
    assert list_origins(find_input_files([folder / "deep"])[0]) == ["er/a.md"]
    assert list_origins(find_input_files([folder / "deep" / "er" / "a.md"])[0]) == ["a.md"]


def test_the_order_does_not_depend_on_how_inputs_were_named(folder: Path) -> None:
    given = [write_file(folder, name, BIB) for name in ("b.bib", "a.bib", "c.bib")]
    assert (
        list_origins(find_input_files(given)[0])
        == list_origins(find_input_files(given[::-1])[0])
        == ["a.bib", "b.bib", "c.bib"]
    )


def test_a_file_named_twice_is_read_once(folder: Path) -> None:
    file = write_file(folder, "a.bib", BIB)
    assert list_origins(find_input_files([folder, file, folder / "." / "a.bib"])[0]) == ["a.bib"]


def test_a_file_has_the_same_origin_for_any_order_of_arguments(folder: Path) -> None:
    file = write_file(folder, "deep/a.bib", BIB)
    assert list_origins(find_input_files([folder, file])[0]) == list_origins(find_input_files([file, folder])[0])


def test_unsupported_files_are_reported_with_their_suffix(folder: Path) -> None:
    write_file(folder, "a.docx", "x")
    write_file(folder, "README", "x")
    inputs, problems = find_input_files([folder])
    assert inputs == []
    assert [(problem.origin, problem.kind) for problem in problems] == [("README", "skipped"), ("a.docx", "skipped")]
    assert ".docx" in problems[1].reason


def test_hidden_files_and_folders_are_ignored(folder: Path) -> None:
    write_file(folder, ".git/config.json", "{}")
    write_file(folder, ".notes.md")
    write_file(folder, "a.md")
    assert list_origins(find_input_files([folder])[0]) == ["a.md"]


def test_link_loops_are_not_followed(folder: Path) -> None:
    write_file(folder, "a.md")
    (folder / "loop").symlink_to(folder)
    (folder / "gone.md").symlink_to(folder / "nowhere")
    assert list_origins(find_input_files([folder])[0]) == ["a.md"]


def test_a_missing_input_is_named(folder: Path) -> None:
    with pytest.raises(InputNotFound, match=r"nowhere\.bib") as caught:
        find_input_files([folder, folder / "nowhere.bib"])
    assert caught.value.hint


def test_the_references_of_a_paper_are_not_read_unless_named(folder: Path) -> None:
    write_file(folder, "a/paper.md", "---\ntitle: Deep Fish\nbibliography: paper.bib\n---\n\nText.\n")
    cited = write_file(folder, "a/paper.bib", BIB)
    inputs, (problem,) = find_input_files([folder])
    assert list_origins(inputs) == ["a/paper.md"]
    assert (problem.origin, problem.kind) == ("a/paper.bib", "skipped")
    assert list_origins(find_input_files([folder, cited])[0]) == ["a/paper.bib", "a/paper.md"]


def test_a_translation_belongs_to_the_file_of_its_name(folder: Path) -> None:
    write_file(folder, "fish.md")
    write_file(folder, "fish.zh.md", "它们游泳。")
    write_file(folder, "other/fish.de.md", "Sie schwimmen.")
    inputs, _ = find_input_files([folder])
    assert [(entry.origin, entry.translations) for entry in read_all_entries(inputs)] == [
        ("fish.md", {"zh": "它们游泳。"}),
        ("other/fish.de.md", {"de": "Sie schwimmen."}),
    ]


def test_a_translation_without_an_original_waits_for_an_entry_of_its_name(folder: Path) -> None:
    write_file(folder, "fish2019.zh.md", "它们游泳。")
    (entry,) = read_all_entries(find_input_files([folder])[0])
    assert (entry.title, entry.identifiers, entry.translations) == ("", {"stem": "fish2019"}, {"zh": "它们游泳。"})


def test_an_empty_translation_is_reported(folder: Path) -> None:
    write_file(folder, "fish2019.zh.md", "")
    (found,) = find_input_files([folder])[0][0].read_entries()
    assert isinstance(found, BuildProblem)
    assert found.kind == "skipped"


def test_a_file_of_one_paper_has_a_stem_and_a_bibliography_does_not(folder: Path) -> None:
    write_file(folder, "fish2019.md")
    write_file(folder, "refs.bib", BIB)
    stems = {
        entry.origin.partition(":")[0]: entry.identifiers.get("stem")
        for entry in read_all_entries(find_input_files([folder])[0])
    }
    assert stems == {"fish2019.md": "fish2019", "refs.bib": None}
