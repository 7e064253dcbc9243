"""However a typer app ends, it ends the way everything else does."""

import json

import pytest
import typer

from uraniborg.kernel.commands import run_app
from uraniborg.kernel.errors import NotFound

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)


@app.callback()
def group() -> None:
    """A program with commands."""


@app.command()
def end(how: str, as_json: bool = typer.Option(False, "--json")) -> None:
    if how == "interrupted":
        raise KeyboardInterrupt
    if how == "missing":
        raise NotFound("There is no such thing.", hint="Name another.")
    if how == "early":
        raise typer.Exit(5)


def ending(*arguments: str) -> object:
    with pytest.raises(SystemExit) as caught:
        run_app(app, arguments, name="app")
    return caught.value.code


@pytest.mark.parametrize(("how", "code"), [("well", 0), ("early", 5), ("missing", 3), ("interrupted", 130)])
def test_every_ending_has_its_exit_code(how: str, code: int) -> None:
    assert ending("end", how) == code


def test_an_interrupt_is_told(capsys: pytest.CaptureFixture[str]) -> None:
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
