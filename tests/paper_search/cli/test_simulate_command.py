"""The command `paper-search simulate`: replies as JSON and text, orders, plots, and errors."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from tests.installed_programs import Program
from tests.paper_search.cli.test_command import environment

Command = Callable[..., subprocess.CompletedProcess[str]]
FIGURES = ("loss", "wss95", "recall_10", "recall_20", "atd")


@pytest.fixture
def command(tmp_path: Path) -> Command:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return Program("paper-search").run("simulate", *arguments, env=environment(tmp_path), cwd=tmp_path)

    return run


@pytest.fixture
def labels(tmp_path: Path) -> str:
    """Return the name of a file of 60 papers, 10 of them included, 2 without a label."""
    rows = ["title,abstract,year,included"]
    for number in range(58):
        is_included = number % 6 == 0
        topic = "Shift work and melatonin of nurses" if is_included else "Light and growth of plants"
        rows.append(f'"{topic} {number}","Study {number % 7}, über 北京",{2000 + number % 20},{int(is_included)}')
    rows += ["Open,,,", "Open too,,,"]
    (tmp_path / "labels.csv").write_text("\n".join(rows), encoding="utf-8")
    return "labels.csv"


def read_reply(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))


def test_the_learned_order_finds_all_included_papers_first(command: Command, labels: str) -> None:
    done = command(labels, "--json", "--seed", "2")
    reply = read_reply(done)
    assert (reply["order"], reply["seed"], reply["papers"], reply["included"]) == ("learned", 2, 58, 10)
    assert reply["undecided"] == 2
    assert reply["loss"] == 0
    assert reply["wss95"] == pytest.approx(0.95 - 9 / 56)
    assert len(reply["priors"]) == 2
    assert reply["stop"].keys() == {"screened", "share", "recall"}
    assert "question" not in reply
    assert done.stderr == ""
    assert read_reply(command(labels, "--json", "--seed", "2")) == reply


def test_the_question_is_the_title_of_the_included_paper_drawn_or_that_given(command: Command, labels: str) -> None:
    default = read_reply(command(labels, "--order", "question", "--json"))
    assert str(default["question"]).startswith("Shift work and melatonin of nurses")
    assert default["loss"] == 0
    given = read_reply(command(labels, "--order", "question", "--question", "growth of plants", "--json"))
    assert given["question"] == "growth of plants"
    assert given["loss"] == 1


def test_the_random_order_follows_the_seed(command: Command, labels: str) -> None:
    replies = [read_reply(command(labels, "--order", "random", "--seed", seed, "--json")) for seed in ("1", "1", "2")]
    assert replies[0] == replies[1]
    assert replies[0]["atd"] != replies[2]["atd"]
    assert all(0.1 < float(str(reply["loss"])) < 0.9 for reply in replies)


def test_the_text_names_figures_left_out_records_and_the_question(command: Command, labels: str) -> None:
    done = command(labels, "--order", "question")
    text = " ".join(done.stdout.split())
    assert "papers 58, 10 included; 2 without a label left out" in text
    assert "question Shift work and melatonin of nurses" in text
    assert "loss 0.000" in text
    assert "stop rule after" in text
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_the_plot_is_written_and_reported(command: Command, labels: str, tmp_path: Path) -> None:
    assert read_reply(command(labels, "--plot", "recall.svg", "--json"))["plot"] == "recall.svg"
    root = ET.parse(tmp_path / "recall.svg").getroot()
    assert root.findtext("{http://www.w3.org/2000/svg}title") == "labels.csv: learned order, seed 0"
    assert "Wrote again.svg." in command(labels, "--plot", "again.svg", "--order", "random").stderr
    assert sorted(path.name for path in tmp_path.glob("*.svg")) == ["again.svg", "recall.svg"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("labels.csv", "--order", "best"), "There is no order 'best'"),
        (("labels.csv", "--question", "sleep"), "The order learned uses no question"),
        (("labels.csv", "--order", "question", "--question", ""), "empty"),
        (("missing.csv",), "'missing.csv' cannot be read"),
        (("empty.csv",), "'empty.csv' is empty"),
        (("all.csv",), "at least two included papers and one excluded paper"),
        (("none.csv",), "at least two included papers and one excluded paper"),
        (("untitled.csv", "--order", "question"), "has no title to ask for"),
    ],
)
@pytest.mark.usefixtures("labels")
def test_errors_have_a_remedy(command: Command, tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    for name, text in (
        ("empty.csv", ""),
        ("all.csv", "title,label\nA,1\nB,1\n"),
        ("none.csv", "title,label\nA,0\nB,0\n"),
        ("untitled.csv", "title,abstract,label\n,x,1\n,y,1\n,z,0\n"),
    ):
        (tmp_path / name).write_text(text, encoding="utf-8")
    done = command(*arguments)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())
    assert "hint:" in done.stderr
    reply = json.loads(command(*arguments, "--json").stdout)
    assert reply["error"]["code"]
    assert reply["error"]["hint"]


def test_a_plot_in_a_missing_folder_is_refused_before_the_replay(command: Command, labels: str) -> None:
    done = command(labels, "--plot", "missing/recall.svg")
    assert done.returncode != 0
    assert done.stdout == ""
    assert "does not exist" in " ".join(done.stderr.split())


def test_papers_without_words_are_replayed(command: Command, tmp_path: Path) -> None:
    rows = [f",,{int(number < 5)}" for number in range(20)]
    (tmp_path / "wordless.csv").write_text("\n".join(["title,abstract,label", *rows]), encoding="utf-8")
    reply = read_reply(command("wordless.csv", "--json"))
    assert all(isinstance(reply[name], float | int) for name in FIGURES)
