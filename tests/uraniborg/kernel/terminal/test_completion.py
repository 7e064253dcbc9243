"""Every program completes its commands and options in a shell, and `uraniborg` those of the parts."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

BIN: Final = Path(sys.executable).parent
PROGRAMS: Final = ("uraniborg", "ubg", "paper-search", "paper-library", "universe", "pflow")


def run(*command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", **environment}
    return subprocess.run(command, capture_output=True, text=True, timeout=50, check=False, env=env)


def complete_in_bash(*words: str) -> list[str]:
    """Return the completions of the last word, as bash finds them with the script of the program."""
    program = words[0]
    script = run(program, "--show-completion", "bash").stdout
    function = f"_{program.replace('-', '_')}_completion"
    listed = " ".join(f"'{word}'" for word in words)
    asked = f"COMP_WORDS=({listed}); COMP_CWORD={len(words) - 1}"
    code = f'{script}\n{asked}; {function} {program}; printf "%s\\n" "${{COMPREPLY[@]}}"'
    return run("bash", "--norc", "-c", code).stdout.split()


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("uraniborg", "ba"), ["backup"]),
        (("uraniborg", "flow", "descr"), ["describe"]),
        (("ubg", "search", "sessions", "res"), ["resume"]),
        (("uraniborg", "universe", "nbody", "--ye"), ["--years"]),
        (("pflow", "run", "--dry"), ["--dry-run"]),
        (("paper-library", "ser"), ["serve"]),
    ],
)
def test_bash_completes_commands_and_options(words: tuple[str, ...], expected: list[str]) -> None:
    assert complete_in_bash(*words) == expected


def test_zsh_and_fish_complete_the_commands_of_a_part() -> None:
    asked = {"_TYPER_COMPLETE_ARGS": "uraniborg library ver"}
    assert '"verify"' in run("uraniborg", **asked, _URANIBORG_COMPLETE="complete_zsh").stdout
    fish = run("uraniborg", **asked, _URANIBORG_COMPLETE="complete_fish", _TYPER_COMPLETE_FISH_ACTION="get-args")
    assert fish.stdout.startswith("verify\t")


@pytest.mark.parametrize("program", PROGRAMS)
def test_completion_is_installed_for_the_shell_of_the_user(program: str, tmp_path: Path) -> None:
    done = run(program, "--install-completion", "--json", HOME=str(tmp_path), SHELL="/bin/bash")
    installed = json.loads(done.stdout)
    assert installed["shell"] == "bash"
    assert program in Path(installed["path"]).read_text()
    assert installed["path"] in (tmp_path / ".bashrc").read_text()


def test_an_unknown_shell_is_refused() -> None:
    done = run("pflow", "--show-completion", "tcsh")
    assert done.returncode == 2
    assert "bash, zsh, fish" in done.stderr
    assert run("pflow", "--show-completion", SHELL="").returncode == 2
