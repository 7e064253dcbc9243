"""The shipped examples: each is valid, and each is run."""

import hashlib
import json
import os
import subprocess
import threading
from collections.abc import Generator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import pytest

from paper_library.service.build.builder import build_shelf
from pflow.config import Settings
from pflow.service.engine.results import RunResult
from pflow.service.operations import Service
from tests.installed_programs import find_program
from tests.pflow.run_results import get_error
from tests.requirements import requirement
from universe.claims import check_claim
from universe.domain.units_and_dates import EARTH_MASS
from universe.service.papers import make_paper_text_reader
from uraniborg.kernel.store.inbox import Inbox, InboxDecision
from uraniborg.recordings import QUERY, RECORDING

EXAMPLES: Final = {
    path.name.removesuffix(".json"): json.loads(path.read_text(encoding="utf-8"))
    for path in files("pflow").joinpath("examples").iterdir()
    if path.name.endswith(".json")
}
TRIED: Final = {"hello", "checksums", "fetch", "publish", "changes", "claim"}
"""Those that a test below runs."""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder that the examples run in, isolated from the settings of this machine."""
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    for name in [name for name in os.environ if name.startswith(("GIT_", "URANIBORG_", "PFLOW_"))]:
        monkeypatch.delenv(name)
    settings = tmp_path / "gitconfig"
    settings.write_text("[user]\n\tname = Tycho\n\temail = tycho@hven.example\n[init]\n\tdefaultBranch = main\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("URANIBORG_HOME", str(tmp_path / "house"))
    return work


@pytest.fixture
def service(tmp_path: Path, folder: Path) -> Service:
    return Service(Settings(home=tmp_path / "home"), folder=folder)


def run_example(service: Service, name: str, **inputs: Any) -> RunResult:
    return service.run_document(EXAMPLES[name], inputs, name=name)


def require_success(result: RunResult) -> dict[str, Any]:
    assert result.success, result.error_body
    return result.outputs


def test_every_shipped_example_is_run_by_a_test_of_this_file() -> None:
    assert EXAMPLES.keys() == TRIED


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_an_example_is_valid_without_warnings(name: str, service: Service) -> None:
    checked = service.check_document(EXAMPLES[name])
    assert [one.to_dict() for one in checked.diagnostics] == []
    assert checked.workflow is not None


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_an_example_describes_itself_its_inputs_and_its_outputs(name: str) -> None:
    document = EXAMPLES[name]
    assert document["name"] == name
    declared = [document, *document["ir"]["inputs"].values(), *document["ir"]["outputs"].values()]
    assert all(one["description"] for one in declared)


def test_hello_greets_the_given_person(service: Service) -> None:
    assert require_success(run_example(service, "hello")) == {"greeting": "Hello, world!"}
    assert require_success(run_example(service, "hello", who="Sophie")) == {"greeting": "Hello, Sophie!"}


def test_checksums_are_correct_for_any_file_names(service: Service, folder: Path) -> None:
    contents = {"plain.txt": b"one", "with space.txt": b"two", "it's $(touch pwned); `id`.txt": b"three", "-n": b""}
    (folder / "data").mkdir()
    for name, content in contents.items():
        (folder / "data" / name).write_bytes(content)
    outputs = require_success(run_example(service, "checksums", folder=str(folder / "data")))
    assert outputs["files"] == len(contents)
    lines = Path(outputs["manifest"]).read_text().splitlines()
    expected = {
        f"{hashlib.sha256(content).hexdigest()}  {folder / 'data' / name}" for name, content in contents.items()
    }
    assert set(lines) == expected
    assert not (folder / "pwned").exists()


@requirement("PF-E10")
def test_checksums_of_a_folder_that_was_missing_are_made_once_it_is_there(service: Service, folder: Path) -> None:
    failed = run_example(service, "checksums", folder=str(folder / "data"))
    assert (failed.success, failed.failed_node) == (False, "list")
    (folder / "data").mkdir()
    (folder / "data" / "a").write_text("a")
    assert require_success(run_example(service, "checksums", folder=str(folder / "data")))["files"] == 1


class Server(ThreadingHTTPServer):
    """Answers with JSON while it is up, and with 503 while it is not."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.is_up = True
        self.asked = 0


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        assert isinstance(self.server, Server)
        self.server.asked += 1
        body = b'{"planets": 7}' if self.server.is_up else b"later"
        self.send_response(200 if self.server.is_up else 503)
        self.send_header("Content-Type", "application/json" if self.server.is_up else "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class calls it so
        """Log nothing: the tests check the received requests."""


@pytest.fixture
def server() -> Generator[Server]:
    with Server() as listening:
        thread = threading.Thread(target=listening.serve_forever, daemon=True)
        thread.start()
        yield listening
        listening.shutdown()
        thread.join(timeout=10)


def test_fetch_returns_the_response_and_writes_a_copy(service: Service, folder: Path, server: Server) -> None:
    outputs = require_success(run_example(service, "fetch", url=f"http://127.0.0.1:{server.server_port}/"))
    assert outputs == {"answer": {"planets": 7}}
    assert json.loads((folder / "copy.json").read_text()) == {"planets": 7}


def test_fetch_gives_the_older_copy_when_the_server_is_down_after_three_attempts(
    service: Service, folder: Path, server: Server
) -> None:
    url = f"http://127.0.0.1:{server.server_port}/"
    require_success(run_example(service, "fetch", url=url))
    server.is_up, server.asked = False, 0
    result = run_example(service, "fetch", url=url)
    assert json.loads(require_success(result)["answer"]) == {"planets": 7}
    assert server.asked == 3
    assert "keep" in result.progress.skipped
    assert any("'ask' failed" in warning for warning in result.warnings)


def test_fetch_without_server_or_copy_fails_and_is_resumed_once_there_is_a_copy(
    service: Service, folder: Path, server: Server
) -> None:
    server.is_up = False
    url = f"http://127.0.0.1:{server.server_port}/"
    failed = run_example(service, "fetch", url=url)
    assert (failed.success, failed.failed_node) == (False, "older")
    (folder / "copy.json").write_text('{"planets": 3}')
    assert json.loads(require_success(run_example(service, "fetch", url=url))["answer"]) == {"planets": 3}


def get_waiting_question() -> str:
    """Return the id of the only waiting question."""
    inbox = Inbox()
    (entry,) = inbox.pending("pflow")
    inbox.close()
    return entry.id


def test_publish_waits_for_a_person_and_writes_once_they_agree_at_a_terminal(service: Service, folder: Path) -> None:
    asked = run_example(service, "publish", text="seven small planets")
    assert asked.error_body is not None
    assert get_error(asked)["type"] == "approval_required"
    assert "Publish 3 words to published.txt?" in asked.error_body["message"]
    checkpoint = asked.build_checkpoint_reply()
    assert checkpoint is not None
    assert (checkpoint["completed_nodes"], checkpoint["failed_node"]) == (["count"], "ask")
    assert not (folder / "published.txt").exists()

    house = [find_program("uraniborg"), "decide", get_waiting_question(), "approve", "--json"]
    subprocess.run(house, capture_output=True, timeout=50, check=True)
    result = run_example(service, "publish", text="seven small planets")
    assert require_success(result)["outcome"] == str(folder / "published.txt")
    assert result.progress.reused == ["count"]
    assert (folder / "published.txt").read_text() == "seven small planets"


def test_publish_asks_once_however_often_it_is_run_before_the_answer(service: Service) -> None:
    for _ in range(3):
        assert not run_example(service, "publish", text="seven").success
    get_waiting_question()


def test_publish_writes_nothing_after_a_rejection_and_returns_the_reason(service: Service, folder: Path) -> None:
    run_example(service, "publish", text="seven small planets")
    inbox = Inbox()
    inbox.decide(get_waiting_question(), InboxDecision(action="reject", note="eight, surely"), door="test")
    inbox.close()
    assert require_success(run_example(service, "publish", text="seven small planets")) == {
        "outcome": "Not published: eight, surely"
    }
    assert not (folder / "published.txt").exists()


def run_git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=folder, capture_output=True, timeout=50, check=True)


def test_changes_lists_the_commits_of_a_repository_newest_first(service: Service, folder: Path) -> None:
    repository = folder / "repository"
    repository.mkdir()
    run_git(repository, "init", "-q")
    for subject in ("A first star", "A second one, with \"quotes\" and 'more'", "A third"):
        run_git(repository, "commit", "-q", "--allow-empty", "-m", subject)
    outputs = require_success(run_example(service, "changes", repository=str(repository), limit="2"))
    lines = outputs["changes"].splitlines()
    assert [line.rpartition(" (")[0] for line in lines] == ["- A third", "- A second one, with \"quotes\" and 'more'"]
    assert all("(Tycho, " in line for line in lines)


def test_changes_fails_with_an_explanation_outside_of_a_repository(service: Service, folder: Path) -> None:
    (folder / "bare").mkdir()
    failed = run_example(service, "changes", repository=str(folder / "bare"))
    assert (failed.success, failed.failed_node) == (False, "log")


REPLAYED: Final = {"query": QUERY, "replay": str(RECORDING)}


@requirement("PF-E10")
def test_claim_refuses_a_mass_that_no_row_states_and_sets_the_one_that_a_row_states(
    service: Service, folder: Path
) -> None:
    failed = run_example(service, "claim", **REPLAYED, mass=42)
    assert (failed.success, failed.failed_node) == (False, "claim")
    assert failed.progress.completed == ["search", "shelve", "find", "read", "rows"]
    assert failed.error_body is not None
    assert "states 42 as the mass of trappist-1-e: the row states 0.692 ± 0.022" in failed.error_body["message"]
    assert not (folder / "claim.db").exists()

    result = run_example(service, "claim", **REPLAYED)
    outputs = require_success(result)
    assert result.progress.reused == ["search", "shelve", "find", "read", "rows"]
    assert result.progress.not_reused.keys() == {"claim", "set", "look"}
    assert outputs["paper"].startswith("Refining the Transit-timing and Photometric Analysis of TRAPPIST-1")
    assert outputs["row"].splitlines()[0].startswith("| planet | mass [M⊕] |")
    assert outputs["row"].splitlines()[2].startswith("| e | 0.692 ± 0.022 |")
    body = outputs["body"]["stars"]["trappist-1-e"]
    assert body["mass"] == pytest.approx(0.692 * EARTH_MASS)
    source = next(one for one in body["sources"] if "mass" in one["fields"])
    assert (source["title"], source["doi"]) == (outputs["paper"], "10.3847/psj/abd022")
    status = check_claim(
        source, "mass", body["mass"], body=body, text_of=make_paper_text_reader(folder / "claim-shelf")
    )
    assert (status.status, status.checked) == ("supported", True)


@pytest.mark.parametrize(
    ("given", "node"),
    [
        ({"mass": 42, "topic": "attention is all you need"}, "claim"),
        ({"topic": "seven temperate terrestrial planets"}, "claim"),
        ({"topic": "thermal emission from TRAPPIST-1 b"}, "rows"),
        ({"body": "trappist-1-x"}, "claim"),
        ({"body": "kepler-90-e"}, "claim"),
    ],
    ids=["another subject", "a guide without masses", "a paper without a text", "another body", "another star"],
)
def test_claim_sets_nothing_where_the_paper_has_no_row_for_it(
    service: Service, folder: Path, given: dict[str, Any], node: str
) -> None:
    failed = run_example(service, "claim", **REPLAYED, **given)
    assert (failed.success, failed.failed_node) == (False, node)
    assert not (folder / "claim.db").exists()


def test_claim_makes_one_universe_however_often_it_is_resumed(service: Service, folder: Path) -> None:
    for mass in (42, 0.62):
        assert not run_example(service, "claim", **REPLAYED, mass=mass).success
    universe = require_success(run_example(service, "claim", **REPLAYED, mass=0.692))["universe"]
    listed = [find_program("universe"), "list", "--db", f"sqlite:///{folder / 'claim.db'}", "--json"]
    report = json.loads(subprocess.run(listed, capture_output=True, text=True, timeout=50, check=True).stdout)
    assert [one["id"] for one in report["universes"]] == [universe]


def test_the_value_that_claim_set_is_traced_to_its_row_and_checked_against_the_shelf(
    service: Service, folder: Path
) -> None:
    universe = require_success(run_example(service, "claim", **REPLAYED))["universe"]
    cite = [find_program("universe"), "cite", universe, "--body", "trappist-1-e", "--field", "mass"]
    more = ["--db", f"sqlite:///{folder / 'claim.db'}", "--json"]

    def cited(shelf: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*cite, "--shelf", shelf, *more], capture_output=True, text=True, timeout=50, check=False)

    found = json.loads(cited("claim-shelf").stdout)
    assert found["status"] == "supported"
    assert "0.692 ± 0.022" in str(found)
    other = folder / "other.md"
    other.write_text("---\ntitle: Refined\ndoi: 10.3847/PSJ/abd022\n---\n\nNothing about masses.\n")
    build_shelf([other], folder / "other-shelf")
    assert json.loads(cited("other-shelf").stdout)["status"] == "unverified claim"
    missing = cited("missing")
    assert missing.returncode == 2
    assert "The folder missing does not exist" in missing.stdout
