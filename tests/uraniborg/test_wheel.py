"""The wheel alone, without the checkout: every command prints its help, and doctor and demo work without a network."""

import json
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

import pytest

from tests.installed_wheel import CONTACTS, ROOT, install_wheel, make_environment
from tests.shared_folders import PATIENCE_S
from tests.uraniborg.demo_runs import YEARS
from tools.make_release import find_wheel_problems, read_version

SCRIPTS = sorted(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"])
APPS = ("uraniborg.cli", "paper_search.cli.command", "paper_library.cli.command", "universe.cli", "pflow.cli.commands")
PRINT_ALL_HELP = """
import importlib, sys, typer.main
from click.testing import CliRunner

def print_help(command, *names):
    for name, inner in getattr(command, "commands", {}).items():
        print_help(inner, *names, name)
    if command.context_settings.get("help_option_names", True):  # those of the parts are printed by the parts
        sys.argv = [module, *names, "--help"]  # which `pflow run` reads
        done = CliRunner().invoke(root, [*names, "--help"])
        assert done.exit_code == 0 and "Usage: " in done.output, (names, done.output, done.exception)
        print(" ".join([module, *names]))

modules = sys.argv[1:]
for module in modules:
    root = typer.main.get_command(importlib.import_module(module).app)
    print_help(root)
"""
FETCH_PAGES = """
import asyncio, re, shutil, httpx
from uraniborg.console.web_files import WebFiles

async def fetch_pages():
    assert shutil.which("node") is None and shutil.which("npm") is None
    async with httpx.AsyncClient(transport=httpx.ASGITransport(WebFiles()), base_url="http://127.0.0.1") as client:
        page = (await client.get("/")).raise_for_status().text
        for path in (*re.findall(r'(?:src|href)="(/[^"]+)"', page), "/third-party-notices.md"):
            answer = (await client.get(path)).raise_for_status()
            print(path.rpartition(".")[2], answer.headers["content-type"])

asyncio.run(fetch_pages())
"""
NOT_CHECKED = 6
"""The exit code of `uraniborg verify` if nothing differs and something is only stated by the bundle."""
LOOPBACK = {"127.0.0.1", "::1", "localhost"}


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install_wheel(tmp_path_factory)


def run(programs: Path, folder: Path, *command: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a program of the wheel in an empty home, and list the hosts that it contacts in `contacts.txt`."""
    env = {**make_environment(folder), CONTACTS: str(folder / "contacts.txt"), **more}
    return subprocess.run(
        [programs / command[0], *command[1:]],
        cwd=folder, env=env, capture_output=True, text=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip


@pytest.mark.timeout(2 * PATIENCE_S)
@pytest.mark.parametrize("script", SCRIPTS)
def test_every_program_of_the_wheel_prints_its_help(programs: Path, tmp_path: Path, script: str) -> None:
    done = run(programs, tmp_path, script, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) > 1
    assert not (tmp_path / "contacts.txt").exists()


@pytest.mark.timeout(2 * PATIENCE_S)
def test_every_command_of_the_wheel_prints_its_help(programs: Path, tmp_path: Path) -> None:
    done = run(programs, tmp_path, "python", "-c", PRINT_ALL_HELP, *APPS)
    assert done.returncode == 0, done.stderr
    printed = done.stdout.splitlines()
    assert len(printed) > 60
    assert {"uraniborg.cli doctor", "pflow.cli.commands mcp add", "paper_search.cli.command sessions list"} <= set(
        printed
    )


@pytest.mark.soak
@pytest.mark.timeout(2 * PATIENCE_S)
def test_the_demo_of_the_wheel_runs_and_contacts_nothing_outside(programs: Path, tmp_path: Path) -> None:
    done = run(programs, tmp_path, "uraniborg", "demo", "--script", "--years", str(YEARS))
    assert done.returncode == 0, done.stderr
    assert "Next, type one of these" in done.stdout
    assert not (tmp_path / "contacts.txt").exists()


@pytest.mark.timeout(2 * PATIENCE_S)
def test_commands_contact_nothing_that_you_did_not_ask_for(programs: Path, tmp_path: Path) -> None:
    for command in (
        ("uraniborg", "doctor", "--json"),
        ("uraniborg", "connect"),
        ("uraniborg", "paths"),
        ("paper-search", "sources"),
        ("paper-library", "sample", "-o", "shelf"),
        ("paper-library", "search", "shelf", "planets"),
        ("universe", "new", "--from", "trappist-1", "--id", "t1"),
        ("pflow", "browse"),
    ):
        done = run(programs, tmp_path, *command)
        assert done.returncode == 0, done.stderr
    contacts = tmp_path / "contacts.txt"
    assert not contacts.exists() or set(contacts.read_text().split()) <= LOOPBACK  # doctor looks at our own ports


@pytest.mark.timeout(2 * PATIENCE_S)
def test_the_wheel_is_what_a_release_needs(programs: Path) -> None:
    (wheel,) = (programs.parents[1] / "dist").glob("*.whl")
    assert find_wheel_problems(wheel, read_version()) == []


@pytest.mark.timeout(2 * PATIENCE_S)
def test_the_wheel_serves_the_built_console_where_no_node_is_installed(programs: Path, tmp_path: Path) -> None:
    done = run(programs, tmp_path, "python", "-c", FETCH_PAGES, PATH=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert {
        "js text/javascript; charset=utf-8",
        "css text/css; charset=utf-8",
        "md text/markdown; charset=utf-8",
    } <= set(done.stdout.splitlines())


@pytest.mark.timeout(2 * PATIENCE_S)
def test_doctor_finds_a_complete_installation(programs: Path, tmp_path: Path) -> None:
    report = json.loads(run(programs, tmp_path, "uraniborg", "doctor", "--json").stdout)
    assert report["ok"], report
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert report["checks"][0]["detail"].startswith(version)


@pytest.mark.timeout(2 * PATIENCE_S)
@pytest.mark.parametrize("command", [("demo",), ("connect", "cursor", "--yes")])
def test_without_the_extra_the_command_names_it(programs: Path, tmp_path: Path, command: tuple[str, ...]) -> None:
    hide = "import sys; sys.modules.update(mcp=None, starlette=None); from uraniborg.cli import main; main()"
    done = run(programs, tmp_path, "python", "-c", hide, *command)
    assert done.returncode == 2
    assert "needs the optional dependencies of the extra 'mcp'" in done.stderr
    assert "uraniborg[mcp]" in done.stderr
    assert not (tmp_path / ".cursor").exists()


ISOLATED = ("unshare", "--map-root-user", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh")
"""Runs a program in a network of its own that has this machine and nothing else."""


@pytest.mark.soak
@pytest.mark.timeout(8 * PATIENCE_S)
def test_the_wheel_in_an_empty_environment_runs_the_whole_story_without_a_network(
    tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    if subprocess.run([*ISOLATED, "true"], capture_output=True, check=False).returncode:
        pytest.skip("This machine cannot run programs without a network.")
    (wheel,) = (install_wheel(tmp_path_factory).parents[1] / "dist").glob("*.whl")
    fresh = tmp_path / "fresh"
    venv.create(fresh, with_pip=True)
    python = str(fresh / "bin" / "python")
    lock = [sys.executable, str(ROOT / "tools" / "install_lock.py"), python, str(ROOT / "requirements" / "core.lock")]
    installed = subprocess.run(lock, cwd=ROOT, capture_output=True, text=True, check=False)
    if installed.returncode:
        pytest.skip(f"The lock cannot be installed here: {installed.stderr[-200:]}")
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", str(wheel)], check=True)
    uraniborg, env = str(fresh / "bin" / "uraniborg"), make_environment(tmp_path)

    def run_isolated(*command: str, expected: int = 0) -> str:
        done = subprocess.run(
            [*ISOLATED, *command], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=900, check=False
        )
        assert done.returncode == expected, f"{done.stdout}\n{done.stderr}"
        return done.stdout

    assert "all 5 Laplace resonances hold" in " ".join(run_isolated(uraniborg, "demo", "--script").split())
    run_isolated(uraniborg, "export", "-o", "story.zip")
    for bundle in ("demo-output", "story.zip"):
        assert " 0 differ," in run_isolated(uraniborg, "verify", bundle, expected=NOT_CHECKED)
    driver = str(Path(__file__).with_name("served_story.py"))
    run_isolated(python, driver, uraniborg, str(tmp_path / "served"), str(tmp_path / "served.zip"), str(YEARS))
    assert " 0 differ," in run_isolated(uraniborg, "verify", "served.zip", expected=NOT_CHECKED)
