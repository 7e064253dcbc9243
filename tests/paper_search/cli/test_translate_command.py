"""The command `paper-search translate`: files, stdin and sessions, as text and as JSON."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.installed_programs import Program
from tests.paper_search.cli.test_command import environment

Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def command(tmp_path: Path) -> Command:
    def run(*arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
        return Program("paper-search").run(*arguments, env=environment(tmp_path), cwd=tmp_path, given=given)

    return run


def test_a_file_is_translated_and_the_changes_go_to_stderr(command: Command, tmp_path: Path) -> None:
    (tmp_path / "gout.txt").write_text('"Gout"[Mesh] or “uric acid”[ti]\n', encoding="utf-8")
    done = command("translate", "gout.txt", "--to", "embase")
    assert done.stdout == "'gout'/exp OR 'uric acid':ti\n"
    assert "Changed: MeSH headings are written as Emtree terms" in done.stderr
    assert "Characters 14 to 15: “or” is read as an operator" in done.stderr
    assert done.returncode == 0


def test_stdin_is_translated_to_json_with_findings_and_the_corrected_text(command: Command) -> None:
    done = command("translate", "-", "--to", "ovid", "--json", given='"Gout"[Mesh] or gout*[ti]')
    reply = json.loads(done.stdout)
    assert reply["text"] == "exp Gout/ or gout*.ti."
    assert reply["label"] == "Ovid MEDLINE"
    assert reply["corrected"] == '"Gout"[Mesh] OR gout*[ti]'
    assert reply["findings"][0]["correction"] == {"start": 13, "end": 15, "text": "OR"}


def test_a_question_is_planned_and_translated(command: Command) -> None:
    reply = json.loads(
        command("translate", "-", "--to", "cochrane", "--json", given="shift work and breast cancer").stdout
    )
    assert '"breast cancer"' in reply["text"]
    assert reply["findings"] == []


@pytest.mark.parametrize(
    ("arguments", "text", "message"),
    [
        (("-", "--to", "ebsco"), "gout", "pubmed, ovid, wos, scopus, embase, cochrane"),
        (("-",), "gout[ti] AND (diet[ti]", "has an error at character 14"),
        (("missing.txt",), "", "cannot be read"),
        ((), "", "Name either a file or a session"),
        (("-",), "", "empty"),
    ],
)
def test_what_cannot_be_translated_is_an_error_with_a_remedy(
    command: Command, arguments: tuple[str, ...], text: str, message: str
) -> None:
    done = command("translate", *arguments, given=text)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())
    assert "hint:" in done.stderr
