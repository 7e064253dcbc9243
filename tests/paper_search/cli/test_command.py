"""The `paper-search` command, run as a user runs it: with a terminal where it asks, without one elsewhere."""

import json
import os
import pty
import re
import select
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.installed_programs import Program
from uraniborg.recordings import QUERY, RECORDING

Command = Callable[..., subprocess.CompletedProcess[str]]
PATIENCE_S = 40


def environment(folder: Path) -> dict[str, str]:
    env = {key: value for key, value in os.environ.items() if not key.startswith("URANIBORG_")}
    return env | {"URANIBORG_HOME": str(folder / "home"), "COLUMNS": "80", "TERM": "xterm"}


@pytest.fixture
def command(tmp_path: Path) -> Command:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return Program("paper-search").run(*arguments, env=environment(tmp_path), cwd=tmp_path)

    return run


class Terminal:
    """The command in a pseudo terminal; stdout goes to a file, as with `>`."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.stdout = folder / "stdout.txt"
        self._own, theirs = pty.openpty()
        with self.stdout.open("wb") as stdout:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "paper_search.cli.command", *arguments],
                stdin=theirs, stdout=stdout, stderr=theirs, cwd=folder, env=environment(folder), start_new_session=True,
            )  # fmt: skip
        os.close(theirs)
        self.seen = ""

    def expect(self, pattern: str) -> "Terminal":
        """Read until the pattern appears in the text displayed since the last match."""
        deadline = time.monotonic() + PATIENCE_S
        while (found := re.search(pattern, self.seen)) is None:
            ready, _, _ = select.select([self._own], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, f"{pattern!r} did not appear in {self.seen!r}"
            try:
                self.seen += os.read(self._own, 65_536).decode("utf-8", "replace")
            except OSError:  # the command has ended
                assert re.search(pattern, self.seen), f"{pattern!r} did not appear in {self.seen!r}"
        self.seen = self.seen[found.end() :]
        return self

    def type(self, text: str) -> "Terminal":
        os.write(self._own, text.encode())
        return self

    def close(self) -> int:
        code = self.process.wait(timeout=PATIENCE_S)
        os.close(self._own)
        return code


def test_a_strategy_of_several_lines_is_one_line_of_the_list_of_sessions(tmp_path: Path, command: Command) -> None:
    strategy = tmp_path / "strategy.txt"
    strategy.write_text('#1 "TRAPPIST-1"[tiab]\n#2 atmospher*[tiab]\n#3 #1 AND #2', encoding="utf-8")
    terminal = Terminal(tmp_path, "run", "--review", "--offline", strategy.read_text(encoding="utf-8"))
    terminal.expect(r"\[q\]uit").type("q")
    assert terminal.close() == 0
    assert '#1 "TRAPPIST-1"[tiab] #2 atmospher*[tiab] #3 #1 AND #2' in command("sessions", "list").stdout


def test_a_person_reviews_at_the_terminal_quits_resumes_and_exports(tmp_path: Path, command: Command) -> None:
    first = Terminal(tmp_path, "run", "--review", "--reviewer", "Ada", "--replay", str(RECORDING), *QUERY.split())
    session_id = re.escape("Session ") + r"([0-9a-f]{8})"
    first.expect(session_id).expect(r"concept +atmospheres").expect(r"query +rung 1: ").expect(r"\[q\]uit").type("a")
    first.expect(r"1/\d+  undecided").type("i").expect(r"2/\d+").type("e").expect("Why exclude").type("off topic\r")
    first.expect(r"3/\d+").type("q").expect("sessions resume ([0-9a-f]{8})")
    assert first.close() == 0
    assert first.stdout.read_text() == ""

    (listed,) = json.loads(command("sessions", "list", "--json").stdout)["sessions"]
    assert (listed["query"], listed["checkpoint_kind"]) == (QUERY, "result_review")
    prefix = listed["session_id"][:8]
    assert prefix in command("sessions", "list").stdout
    refused = command("export", prefix, "--json")
    assert json.loads(refused.stdout)["error"]["code"] == "session_not_complete"
    assert "[y/n]" not in command("sessions", "show", prefix).stdout

    second = Terminal(tmp_path, "sessions", "resume", prefix, "--reviewer", "Ada", "--format", "json")
    second.expect("2 marks of this review restored").expect(r"3/\d+").type("m").expect(r"4/\d+").type("a")
    assert second.close() == 0
    result = json.loads(second.stdout.read_text())
    given = [paper["decisions"][0] for paper in result["papers"] if paper["decisions"]]
    decided = {decision["status"]: decision["reviewer"] for decision in given}
    assert decided == {"include": "Ada", "maybe": "Ada"}
    by_person = [gone for gone in result["metadata"]["exclusions"] if gone["reason"] == "by_person"]
    assert [(gone["detail"], gone["reviewer"]) for gone in by_person] == [("off topic", "Ada")]

    log = command("export", prefix, "--format", "prisma").stdout
    assert "Excluded by a person: off topic (n = 1)" in log
    done = command("export", prefix, "--format", "prisma-svg", "-o", "flow.svg")
    assert (done.returncode, done.stdout) == (0, "")
    assert (tmp_path / "flow.svg").read_text().startswith("<svg")
    assert command("export", prefix, "-f", "bibtex").stdout.startswith("@")


def test_a_review_without_a_terminal_is_refused_with_a_hint(command: Command) -> None:
    done = command("run", "--review", "--replay", str(RECORDING), QUERY)
    assert done.returncode == 2
    assert "needs a terminal" in done.stderr
    assert "uraniborg decide" in done.stderr
    assert json.loads(command("sessions", "list", "--json").stdout) == {"sessions": [], "total": 0}


@pytest.mark.parametrize(
    ("options", "start"),
    [((), "| # | Title"), (("--json",), "{"), (("-f", "bibtex"), "@"), (("-f", "prisma"), "# Search log")],
)
def test_a_search_without_review_prints_the_requested_format(
    command: Command, options: tuple[str, ...], start: str
) -> None:
    done = command("run", *options, "--quiet", "--replay", str(RECORDING), QUERY)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(start)


def test_a_result_is_written_to_a_file(command: Command, tmp_path: Path) -> None:
    done = command("run", "-q", "-f", "ris", "-o", "papers.ris", "--replay", str(RECORDING), QUERY)
    assert (done.returncode, done.stdout) == (0, "")
    assert (tmp_path / "papers.ris").read_text().startswith("TY  -")
    assert done.stderr == "Wrote papers.ris.\n"


@pytest.mark.parametrize(
    ("options", "format_name", "start"),
    [((), "json", "{"), (("-f", "bibtex"), "bibtex", "@"), (("-f", "ris"), "ris", "TY")],
)
def test_with_a_file_the_json_is_a_report_of_it(
    command: Command, tmp_path: Path, options: tuple[str, ...], format_name: str, start: str
) -> None:
    done = command("run", "-q", "--json", *options, "-o", "papers.txt", "--replay", str(RECORDING), QUERY)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == {"path": "papers.txt", "format": format_name}
    assert (tmp_path / "papers.txt").read_text().startswith(start)


@pytest.mark.parametrize(
    ("arguments", "code", "exit_code"),
    [
        (("export", "abc", "--json"), "session_not_found", 3),
        (("export", "abc", "--format", "endnote", "--json"), "invalid_argument", 2),
        (("sessions", "show", "zz", "--json"), "session_not_found", 3),
        (("sessions", "delete", "zz", "--yes", "--json"), "session_not_found", 3),
        (("run", "--json", "--review", "--record", "x", "words"), "invalid_argument", 2),
        (("run", "--json", "..."), "invalid_query", 2),
        (("run", "--json", "-f", "bibtex", "words"), "invalid_argument", 2),
        (("run", "--json", "-o", "nowhere/papers.md", "words"), "output_unwritable", 5),
        (("run", "--json", "-o", ".", "words"), "output_unwritable", 5),
        (("nonsense", "--json"), "usage", 2),
    ],
)
def test_wrong_arguments_are_refused_with_a_code_and_a_hint(
    command: Command, arguments: tuple[str, ...], code: str, exit_code: int
) -> None:
    done = command(*arguments)
    assert done.returncode == exit_code
    error = json.loads(done.stdout)["error"]
    assert error["code"] == code
    assert error["hint"]


def test_sources_lists_the_used_sources_and_the_needs_of_the_others(command: Command) -> None:
    listed = {entry["name"]: entry for entry in json.loads(command("sources", "--json").stdout)}
    assert listed["crossref"] == {"name": "crossref", "used": True, "remark": "1 request a second"}
    assert listed["openalex"] == {"name": "openalex", "used": False, "remark": "needs a key: set OPENALEX_API_KEY"}
    assert "* crossref" in command("sources").stdout


@pytest.mark.parametrize("path", [(), ("run",), ("export",), ("sources",), ("sessions",), ("sessions", "resume")])
def test_every_command_has_help_that_fits_the_terminal(command: Command, path: tuple[str, ...]) -> None:
    done = command(*path, "-h")
    assert done.returncode == 0
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "Example" in done.stdout or path in ((), ("sessions",))


def test_a_confirmed_delete_removes_the_session_permanently(tmp_path: Path, command: Command) -> None:
    first = Terminal(tmp_path, "run", "--review", "--replay", str(RECORDING), *QUERY.split())
    first.expect(r"\[q\]uit").type("q").expect("sessions resume ([0-9a-f]{8})")
    assert first.close() == 0
    (listed,) = json.loads(command("sessions", "list", "--json").stdout)["sessions"]
    asked = command("sessions", "delete", listed["session_id"][:6])
    assert asked.returncode == 2
    assert "--yes" in asked.stderr
    done = command("sessions", "delete", listed["session_id"][:6], "--yes", "--json")
    assert json.loads(done.stdout) == {"deleted": listed["session_id"]}
    assert json.loads(command("sessions", "list", "--json").stdout)["total"] == 0
    assert command("sessions", "show", listed["session_id"]).returncode == 3


def test_output_is_written_through_links_and_into_pipes(command: Command, tmp_path: Path) -> None:
    (tmp_path / "real.md").write_text("old")
    (tmp_path / "link.md").symlink_to("real.md")
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    for name in ("link.md", "pipe"):
        assert command("run", "-q", "-o", name, "--replay", str(RECORDING), QUERY).returncode == 0
    assert (tmp_path / "link.md").is_symlink()
    assert (tmp_path / "real.md").read_text().startswith("| # | Title")
    assert os.read(reader, 9) == b"| # | Tit"
    os.close(reader)
    assert (tmp_path / "pipe").is_fifo()
