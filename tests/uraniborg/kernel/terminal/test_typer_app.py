"""However a typer app ends, it ends the way everything else does."""

import json
import os
import subprocess
import sys

import pytest
import typer

from uraniborg.kernel.errors import NotFound
from uraniborg.kernel.terminal.command_runner import run_typer_app
from uraniborg.kernel.terminal.typer_app import CommandLine

app = CommandLine()


@app.callback()
def group() -> None:
    """Make the program a group of commands."""


@app.command()
def end(how: str, as_json: bool = typer.Option(False, "--json")) -> None:
    if how == "interrupted":
        raise KeyboardInterrupt
    if how == "missing":
        raise NotFound("There is no such thing.", hint="Name another.")
    if how == "early":
        raise typer.Exit(5)


@app.command("list")
def list_items(limit: int = typer.Option(5, "--limit", "-n", "--max-results", min=1)) -> None:
    """Take an option that has the name of an earlier version, too."""


def ending(*arguments: str) -> object:
    with pytest.raises(SystemExit) as caught:
        run_typer_app(app, arguments, name="app")
    return caught.value.code


@pytest.mark.parametrize(("how", "code"), [("well", 0), ("early", 5), ("missing", 3), ("interrupted", 130)])
def test_every_ending_has_its_exit_code(how: str, code: int) -> None:
    assert ending("end", how) == code


def test_an_interrupt_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    ending("end", "interrupted")
    assert capsys.readouterr().err == "Interrupted.\n"


def test_an_unknown_option_fails_in_our_shape(capsys: pytest.CaptureFixture[str]) -> None:
    assert ending("end", "well", "--nonsense", "--json") == 2
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["code"] == "usage"
    assert "--nonsense" in error["message"]


def test_the_help_shown_for_no_arguments_is_not_followed_by_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    ending()
    assert "error" not in capsys.readouterr().err


SCRIPT = """
import os
from uraniborg.kernel.terminal.command_runner import run_typer_app
from uraniborg.kernel.terminal.typer_app import CommandLine
app = CommandLine()
@app.command()
def tell(whose: str = "stdout") -> None:
    if whose == "stdout":
        print("x" * 1_000_000)
    source, target = os.pipe()
    os.close(source)
    try:
        os.write(target, b"x")
    except BrokenPipeError:
        if whose == "its-own":
            raise
        sys.exit(1)
run_typer_app(app, sys.argv[1:], name="app")
"""


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    ("arguments", "code"),
    [([], 0), (["--help"], 0), (["--whose", "its-own"], 70)],
    ids=["text", "help", "its own pipe"],
)
def test_a_reader_that_has_left_is_not_a_failure(arguments: list[str], code: int, unbuffered: str) -> None:
    command = [sys.executable, "-c", f"import sys; sys.stdin.read(){SCRIPT}", *arguments]
    env = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    with subprocess.Popen(command, stdin=-1, stdout=-1, stderr=-1, env=env, text=True) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        if code == 0:
            process.stdout.close()
        process.stdin.close()
        assert process.wait(timeout=30) == code
        stderr = process.stderr.read()
    assert bool(stderr) is (code == 70)


def test_an_invalid_value_is_explained_without_words_of_a_library(capsys: pytest.CaptureFixture[str]) -> None:
    assert ending("list", "--max-results", "many") == 2
    assert capsys.readouterr().err.startswith(
        "error: Invalid value for '--limit' / '-n': it must be a valid integer.\n"
    )
    assert ending("list", "-n", "0") == 2
    assert "it must be greater than or equal to 1." in capsys.readouterr().err
