"""The front door and the demo."""

import io
import json
import os
import pty
import re
import select
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import httpx
import pytest

from tests.installed_programs import Program
from tests.installed_wheel import ROOT
from tests.pasted_blocks import make_pasting_environment, paste
from tests.prerequisites import find_built_console
from tests.shared_folders import PATIENCE_S, make_once
from tests.uraniborg.demo_runs import YEARS, Demo, make_demo, make_environment, read_demo
from uraniborg.kernel.terminal.page import Page
from uraniborg.story.folder import StoryFolder
from uraniborg.story.service import Story
from uraniborg.story.terminal import run_story

INTERRUPTED = 130
NOT_CHECKED = 6
"""Nothing differs, and something is only stated by the bundle."""
takes_long = pytest.mark.timeout(2 * PATIENCE_S)


def run_loaded(folder: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a process that is forked after it has imported the command."""
    return Program("uraniborg").run(*arguments, env=make_environment(folder, more), cwd=folder, within_s=PATIENCE_S)


@pytest.fixture
def uraniborg(tmp_path: Path) -> "partial[subprocess.CompletedProcess[str]]":
    return partial(run_loaded, tmp_path)


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    return read_demo(make_once(tmp_path_factory, "demo", make_demo))


@takes_long
def test_the_demo_without_a_terminal_shows_every_step_and_exits_with_0(demo: Demo) -> None:
    assert demo.returncode == 0, demo.stderr
    printed = " ".join(demo.stdout.split())
    results = StoryFolder(demo.story_home).read_results()
    count, marks = len(results["ask"]["queries"]), [paper["status"] for paper in results["review"]["papers"]]
    assert len(marks) > marks.count("include") > 0
    for shown in (
        "Is TRAPPIST-1's chain stable if planet h is twice as heavy?",
        "1/13 An agent asks",
        f"wants to send {count} queries to 4 sources; its question is pending in the inbox, and no source has been "
        "searched.",
        "Offline trial, not a search: answers are filtered from the shipped recording of 58 papers.",
        "You struck query 1 and approved the rest",
        "Nobody is asked: each step takes the value that it suggests.",
        f"You approved the review, which keeps {marks.count('include')} of {len(marks)} papers.",
        f"You judged none of them: the search log says that a program judged {len(marks)}.",
        "stopped at star: No table row of Agol et al. (2021) on the shelf states the mass of trappist-1.",
        "reused 10 nodes and ended with 8 masses, 7 of them with a table row.",
        "0.326 Earth masses, supported: 0.326 ± 0.020 in the row “h | 0.326 ± 0.020",
        "TRAPPIST-1 h now has 0.652 instead of 0.326 Earth masses",
        "Planet h becomes twice as heavy",
        "with TRAPPIST-1 h twice as heavy",
        "Planet h becomes 50 times as heavy",
        "with TRAPPIST-1 h 50 times as heavy",
        "13/13 You export the bundle",
        "Written demo-output/README.md",
    ):
        assert shown in printed
    assert f"verify {demo.story_home}/data/story/bundle.zip".replace(" ", "") in "".join(demo.stdout.split())


@takes_long
def test_the_demo_touches_no_data_but_its_own(demo: Demo) -> None:
    assert [path.name for path in (demo.folder / "home").iterdir()] == ["data"]
    assert [path.name for path in (demo.folder / "home" / "data").iterdir()] == ["demo"]
    assert not (demo.folder / "pflow").exists()
    assert list((demo.folder / "tmp").iterdir()) == []


@takes_long
def test_the_files_of_the_demo_are_for_their_owner_alone(demo: Demo) -> None:
    output = demo.folder / "demo-output"
    modes = {(path.is_dir(), stat.S_IMODE(path.stat().st_mode)) for path in (output, *output.rglob("*"))}
    assert modes == {(True, 0o700), (False, 0o600)}


@pytest.mark.timeout(3 * PATIENCE_S)
def test_the_lines_at_the_end_of_the_demo_work_as_pasted_and_without_a_network(demo: Demo, tmp_path: Path) -> None:
    shutil.copytree(demo.folder / "demo-output", tmp_path / "demo-output")
    env = make_pasting_environment(tmp_path)
    del env["URANIBORG_PAPER_SEARCH__OFFLINE"]
    env |= {"URANIBORG_CONSOLE__PORT": "0", "URANIBORG_CONSOLE__SEARCH_PORT": "0", "BROWSER": "true"}
    _, _, end = demo.stdout.partition("Next, type one of these")
    lines = [line.strip() for line in end.splitlines() if line.startswith("    ")]
    assert len(lines) == 5
    for line in lines:
        code, output = paste(line, tmp_path, env)
        done = {NOT_CHECKED} if " verify " in line else {0}
        assert code in ({*done, INTERRUPTED} if "Press Ctrl-C" in output else done), output


@pytest.mark.timeout(3 * PATIENCE_S)
def test_the_lines_in_the_readme_of_the_bundle_work_as_pasted(demo: Demo, tmp_path: Path) -> None:
    bundle = tmp_path / "bundle"
    shutil.copytree(demo.folder / "demo-output", bundle)
    env = make_pasting_environment(tmp_path)
    blocks = (bundle / "README.md").read_text().split("```sh\n")[1:]
    lines = [line for block in blocks for line in block.partition("```")[0].splitlines()]
    assert len(lines) == 5
    for line in lines:
        code, output = paste(line, bundle, env)
        assert code == (NOT_CHECKED if " verify " in line else 0), output


@takes_long
def test_a_second_demo_shows_the_stored_steps_whatever_the_settings_are(demo: Demo, tmp_path: Path) -> None:
    shutil.copytree(demo.folder, tmp_path / "copy")
    (tmp_path / "copy" / ".env").write_text("DOMAIN=alchemy\n")
    settings = {"PFLOW_TIMEOUT": "0.001", "URANIBORG_PAPER_SEARCH__SESSIONS__REPLY_WITHIN_S": "0"}
    again = run_loaded(tmp_path / "copy", "demo", "--script", DOMAIN="alchemy", **settings)
    assert again.returncode == 0
    assert remove_folders_of_programs(again.stdout) == remove_folders_of_programs(demo.stdout)


def remove_folders_of_programs(text: str) -> str:
    """Return the text with the bare names of programs. Another worker has its programs in another folder."""
    return re.sub(r"/\S+/bin/", "", text)


@takes_long
def test_a_person_at_a_terminal_without_the_console_can_leave_the_story_and_continue_later(tmp_path: Path) -> None:
    first = answer_story(tmp_path, "", "q")
    asked = re.search(r"wants to send (\d+) queries to 4 sources", first)
    assert asked
    count = int(asked[1])
    assert "Left." in first
    second = answer_story(tmp_path, f"strike={count + 1}", "strike=2", "q")
    assert f"strike must be from 1 to {count}, got {count + 1}." in second
    assert "You struck query 2 and approved the rest" in second
    assert re.search(r" 1 include \S.* 2 include \S", second), "the papers are listed before they are marked"
    third = answer_story(tmp_path, "1=exclude", "q")
    assert "You judged 1 of them: the search log says that a program judged the other " in third


def answer_story(folder: Path, *answers: str) -> str:
    """Run the story with these answers to its questions, and return what it displays."""
    shown, given = io.StringIO(), iter(answers)
    story = Story(folder / "story")
    run_story(
        story,
        folder / "output",
        is_script=False,
        as_json=False,
        page=Page(shown),
        ask=lambda _question: next(given),
    )
    return " ".join(shown.getvalue().split())


@contextmanager
def run_demo_at_terminal(
    folder: Path, *, has_console: bool = True
) -> Generator[tuple["subprocess.Popen[bytes]", Callable[..., str]]]:
    """Yield the demo in a terminal of its own, and a function that types, and returns what the terminal shows.

    The function waits until that contains a text. Without the console, the code is that of a checkout without a build.
    """
    if has_console:
        find_built_console()
    else:
        (folder / "src").symlink_to(ROOT / "src")
    more = {"TERM": "dumb"} | ({} if has_console else {"PYTHONPATH": str(folder / "src")})
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [Path(sys.executable).with_name("uraniborg"), "demo", "--restart"],
        stdin=theirs, stdout=theirs, stderr=theirs, cwd=folder, env=make_environment(folder, more),
        start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    shown = ""

    def read_until(text: str, typed: str = "") -> str:
        nonlocal shown
        os.write(ours, typed.encode())
        with suppress(OSError):  # the terminal has ended
            while text not in shown and select.select([ours], [], [], PATIENCE_S)[0]:
                shown += os.read(ours, 65_536).decode(errors="replace")
        return shown

    try:
        yield process, read_until
    finally:
        process.kill()
        process.wait()
        os.close(ours)


@takes_long
def test_at_a_terminal_where_the_console_is_not_built_the_story_runs_there_and_says_so(tmp_path: Path) -> None:
    with run_demo_at_terminal(tmp_path, has_console=False) as (process, read_until):
        shown = " ".join(read_until("q: leave > ").split())
        assert "The pages of the console are not built here, so the story runs in the terminal." in shown
        assert "1/13 An agent asks" in shown
        assert "Enter: " in shown
        assert re.search(r"send \d+ queries to 4 sources", " ".join(read_until("2/13 ", typed="\n").split()))
        assert "`uraniborg demo` continues from here" in read_until("from here", typed="q\n")
        assert process.wait(PATIENCE_S) == 0


def find_server(process: "subprocess.Popen[bytes]") -> int:
    """Wait until the demo has started its server, and return the id of the server."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if found := children.read_text().split():
            return int(found[0])
        time.sleep(0.01)
    pytest.fail("The demo has no server.")


@takes_long
def test_a_person_at_a_terminal_gets_the_address_of_the_story_until_the_demo_is_interrupted(tmp_path: Path) -> None:
    with run_demo_at_terminal(tmp_path) as (process, read_until):
        shown = read_until("demo --script")
        (address,) = re.findall(r"http://127\.0\.0\.1:\d+/story", shown)
        token = re.findall(r"#token=([\w-]+)", shown)[0]
        answer = httpx.get(f"{address}", timeout=PATIENCE_S)
        assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
        headers = {"Authorization": f"Bearer {token}"}
        state = httpx.get(address.replace("/story", "/api/story"), headers=headers, timeout=PATIENCE_S).json()
        assert (state["has_pages"], state["next"]) == (True, "ask")
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(PATIENCE_S) == 0


@takes_long
def test_the_demo_can_be_interrupted_while_its_server_starts(tmp_path: Path) -> None:
    with run_demo_at_terminal(tmp_path) as (process, read_until):
        find_server(process)
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(PATIENCE_S) == INTERRUPTED
        shown = read_until("Interrupted.")
        assert "Traceback" not in shown
        assert "generator" not in shown


@pytest.mark.soak
@takes_long
def test_the_demo_fails_with_a_message_if_its_server_does(tmp_path: Path) -> None:
    with run_demo_at_terminal(tmp_path) as (process, read_until):
        read_until("demo --script")
        os.kill(find_server(process), signal.SIGKILL)
        assert process.wait(PATIENCE_S) not in (0, INTERRUPTED)
        assert "Run `uraniborg demo` again to continue." in " ".join(read_until("to continue.").split())


@takes_long
def test_the_demo_as_json_prints_the_state_and_nothing_else(demo: Demo, tmp_path: Path) -> None:
    shutil.copytree(demo.folder, tmp_path / "copy")
    done = run_loaded(tmp_path / "copy", "demo", "--json", "--years", str(YEARS))
    state = json.loads(done.stdout)
    assert (state["is_complete"], len(state["steps"]), done.stderr) == (True, 13, "")


def test_the_demo_says_when_its_folder_cannot_be_written(
    uraniborg: "partial[subprocess.CompletedProcess[str]]", tmp_path: Path
) -> None:
    (tmp_path / "taken").write_text("a file")
    done = uraniborg("demo", "--json", "--output", "taken")
    assert done.returncode == 2
    assert json.loads(done.stdout)["error"]["hint"]


def test_the_version_is_printed_as_text_and_as_json(uraniborg: "partial[subprocess.CompletedProcess[str]]") -> None:
    number = json.loads(uraniborg("version", "--json").stdout)["version"]
    assert uraniborg("version").stdout == f"uraniborg {number}\n"


def test_help_names_every_command(uraniborg: "partial[subprocess.CompletedProcess[str]]") -> None:
    done = uraniborg("--help")
    assert done.returncode == 0
    assert "demo" in done.stdout
    assert "version" in done.stdout


def test_an_unknown_command_is_a_usage_error(uraniborg: "partial[subprocess.CompletedProcess[str]]") -> None:
    done = uraniborg("dance", "--json")
    assert done.returncode == 2
    assert json.loads(done.stdout)["error"]["code"] == "usage"


def test_no_command_shows_the_help(uraniborg: "partial[subprocess.CompletedProcess[str]]") -> None:
    done = uraniborg()
    assert "demo" in done.stdout + done.stderr
