"""Records without a title get the first sentence of their text as a title, and the report lists them."""

# pyright: reportReturnType=false

import json
from pathlib import Path
from typing import Any

import pytest

from paper_library.service.build.builder import build_shelf
from paper_library.service.library import Library
from tests.paper_library.operations.command_runs import call_command

ABSTRACT = "Comets have long tails. They point away from the Sun, as is seen every time."
FORMS = {
    "a.bib": f"@article{{k, author={{Brahe, Tycho}}, abstract={{{ABSTRACT}}}}}",
    "a.ris": f"TY  - JOUR\nAU  - Brahe, Tycho\nAB  - {ABSTRACT}\nER  - \n",
    "a.json": json.dumps([{"authors": ["Tycho Brahe"], "abstract": ABSTRACT}]),
    "a.jsonl": json.dumps({"authors": ["Tycho Brahe"], "abstract": ABSTRACT}),
    "a.xml": f"<article><front><article-meta><abstract><p>{ABSTRACT}</p></abstract></article-meta></front></article>",
    "b.jsonl": json.dumps({"authors": ["Tycho Brahe"], "markdown": ABSTRACT}),
}


def build_and_read(tmp_path: Path, **files: str) -> tuple[Any, list[dict[str, Any]]]:
    (tmp_path / "in").mkdir(exist_ok=True)
    for name, text in files.items():
        (tmp_path / "in" / name).write_text(text, encoding="utf-8")
    report = build_shelf([tmp_path / "in"], tmp_path / "shelf")
    library = Library.open(tmp_path / "shelf")
    try:
        return report, [library.metadata(hit["paper_id"]) for hit in library.search("", limit=100)["results"]]
    finally:
        library.close()


@pytest.mark.parametrize("name", FORMS)
def test_the_first_sentence_is_the_title_and_is_reported(tmp_path: Path, name: str) -> None:
    report, (reply,) = build_and_read(tmp_path, **{name: FORMS[name]})
    assert (reply["title"], reply["title_is_derived"]) == ("Comets have long tails.", True)
    assert report.titled == 1
    assert report.derived_titles[0]["title"] == "Comets have long tails."
    assert report.derived_titles[0]["origin"].startswith(name)
    assert (report.broken, report.skipped) == (0, 0)


def test_a_title_of_another_input_replaces_a_derived_title(tmp_path: Path) -> None:
    bare = f"@article{{k, doi={{10.1000/x}}, abstract={{{ABSTRACT}}}}}"
    text = "---\ntitle: Of comets\ndoi: 10.1000/x\n---\nText.\n"
    report, (reply,) = build_and_read(tmp_path, **{"a.bib": bare, "z.md": text})
    assert reply["title"] == "Of comets"
    assert "title_is_derived" not in reply
    assert reply["abstract"] == ABSTRACT
    assert report.merged == 1


@pytest.mark.parametrize(
    ("abstract", "title"),
    [
        ("word " * 100, ("word " * 40).strip() + "…"),
        ("x" * 300, "x" * 200 + "…"),
        ("彗星有尾巴。它们背离太阳。", "彗星有尾巴。"),
        ("No end", "No end"),
    ],
    ids=["long", "one word", "chinese", "short"],
)
def test_a_long_sentence_is_cut_at_a_word(tmp_path: Path, abstract: str, title: str) -> None:
    _, (reply,) = build_and_read(tmp_path, **{"a.jsonl": json.dumps({"abstract": abstract})})
    assert reply["title"] == title


def test_two_records_without_titles_and_names_are_two_papers(tmp_path: Path) -> None:
    lines = "\n".join(json.dumps({"abstract": f"Star number {at} shines. So it is."}) for at in range(3))
    report, known = build_and_read(tmp_path, **{"a.jsonl": lines})
    assert [metadata["title"] for metadata in known] == [f"Star number {at} shines." for at in range(3)]
    assert report.titled == 3
    again, _ = build_and_read(tmp_path)
    assert again.build_id == report.build_id


@pytest.mark.parametrize("record", [{"abstract": ""}, {"abstract": "  "}, {"authors": ["A"]}])
def test_an_entry_without_words_is_not_a_paper(tmp_path: Path, record: dict[str, Any]) -> None:
    report, known = build_and_read(tmp_path, **{"a.json": json.dumps([record, {"title": "Of comets"}])})
    assert len(known) == 1
    assert (report.broken, report.titled) == (1, 0)


def test_the_command_lists_the_derived_titles(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.bib").write_text(FORMS["a.bib"])
    built = call_command(capsys, "build", tmp_path / "a.bib", "-o", tmp_path / "shelf")
    assert (
        "1 without a title, titled by the first sentence of the text:\n  a.bib:1: Comets have long tails." in built.out
    )
