"""Summaries are matched to papers by name, and the others are reported."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from paper_library.domain.entry_matcher import make_keys
from paper_library.domain.merging import MergedPaper, merge_entries
from paper_library.errors import InputNotFound
from paper_library.service.build.prepared_papers import SummaryFolder
from tests.paper_library.service.build.readers.entries import make_entry


def make_paper(origin: str = "texts/fish2019.md", **facts: Any) -> MergedPaper:
    entry = make_entry(origin, **facts)
    return merge_entries([(entry, make_keys(entry))])


def write_summary(folder: Path, name: str, content: str = '{"text": "About fish."}') -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    return folder


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        ("fish2019", {}),
        ("FISH2019", {}),
        ("key2019", {"bibkey": "key2019"}),
        ("10.1000_xyz", {"doi": "10.1000/XYZ"}),
        ("2301.00001", {"arxiv": "2301.00001v2"}),
        (make_paper(doi="10.1000/xyz").paper_id, {"doi": "10.1000/xyz"}),
    ],
    ids=["file", "case", "bibtex key", "doi", "arxiv", "id"],
)
@pytest.mark.parametrize("layout", ["{template}/{name}.json", "{name}/{template}.json"])
def test_a_summary_belongs_to_the_paper_of_its_name(
    tmp_path: Path, name: str, facts: dict[str, str], layout: str
) -> None:
    summaries = SummaryFolder(write_summary(tmp_path, layout.format(template="deep", name=name)))
    paper = make_paper(**facts)
    assert list(summaries.add_summaries_to(paper)) == []
    assert paper.entry.summaries == {"deep": {"text": "About fish."}}
    assert summaries.list_unused_as_problems() == []


def test_a_summary_without_a_paper_is_reported(tmp_path: Path) -> None:
    summaries = SummaryFolder(write_summary(tmp_path, "deep/nobody.json"))
    assert list(summaries.add_summaries_to(make_paper())) == []
    assert [(problem.origin, problem.kind) for problem in summaries.list_unused_as_problems()] == [
        ("deep/nobody.json", "skipped")
    ]


@pytest.mark.parametrize("content", ["", "{", "not json", '"\\ud800"'])
def test_a_broken_summary_is_reported_and_leaves_the_paper_as_it_was(tmp_path: Path, content: str) -> None:
    summaries = SummaryFolder(write_summary(tmp_path, "deep/fish2019.json", content))
    paper = make_paper()
    (problem,) = summaries.add_summaries_to(paper)
    assert (problem.origin, problem.kind, paper.entry.summaries) == ("deep/fish2019.json", "broken", {})
    assert summaries.list_unused_as_problems() == []


def test_names_that_are_not_utf_8_are_names_of_summaries(tmp_path: Path) -> None:
    odd = os.fsdecode(b"caf\xe9")
    summaries = SummaryFolder(write_summary(tmp_path, f"{odd}/fish2019.json"))
    paper = make_paper()
    assert list(summaries.add_summaries_to(paper)) == []
    assert list(paper.entry.summaries) == ["caf\ufffd"]
    unused = SummaryFolder(write_summary(tmp_path / "more", f"deep/{odd}.json")).list_unused_as_problems()
    assert [problem.origin for problem in unused] == ["deep/caf\ufffd.json"]


def test_a_summary_is_added_to_one_paper_only(tmp_path: Path) -> None:
    summaries = SummaryFolder(write_summary(tmp_path, "deep/fish2019.json"))
    one, other = make_paper("a/fish2019.md"), make_paper("b/fish2019.md")
    assert [*summaries.add_summaries_to(one), *summaries.add_summaries_to(other)] == []
    assert (bool(one.entry.summaries), bool(other.entry.summaries)) == (True, False)


def test_a_summary_named_like_a_bibliography_belongs_to_none_of_its_papers(tmp_path: Path) -> None:
    summaries = SummaryFolder(write_summary(tmp_path, "deep/refs.json"))
    paper = make_paper("refs.bib:12", bibkey="fish2019")
    assert list(summaries.add_summaries_to(paper)) == []
    assert paper.entry.summaries == {}


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputNotFound, match="nowhere"):
        SummaryFolder(tmp_path / "nowhere")


def test_no_folder_means_no_summaries() -> None:
    assert SummaryFolder(None).list_unused_as_problems() == []


def test_any_json_value_is_a_summary(tmp_path: Path) -> None:
    for number, value in enumerate([["a"], "text", 3, None]):
        paper = make_paper()
        assert (
            list(
                SummaryFolder(write_summary(tmp_path, "deep/fish2019.json", json.dumps(value))).add_summaries_to(paper)
            )
            == []
        )
        assert paper.entry.summaries == {"deep": value}, number
