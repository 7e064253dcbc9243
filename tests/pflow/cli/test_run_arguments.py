"""The arguments of `pflow run`."""

import pytest

from pflow.cli.run_arguments import HELP, InvalidRunArguments, RunArguments, parse_run_arguments
from tests.pflow.cli.commands import RunPflow


def test_the_name_and_the_inputs_are_distinguished_in_any_order() -> None:
    expected = RunArguments("greet", {"who": "Ada", "n": "3"}, only="hello", json=True)
    assert parse_run_arguments(["greet", "who=Ada", "n=3", "--only", "hello", "--json"]) == expected
    assert parse_run_arguments(["--json", "who=Ada", "--only=hello", "greet", "n=3"]) == expected


def test_every_option_is_read() -> None:
    asked = parse_run_arguments(
        ["x", "--dry-run", "--fresh", "-q", "--cluster", "tcp://h:1", "--only", "n", "--json", "-h"]
    )
    assert asked == RunArguments("x", {}, "n", "tcp://h:1", True, True, True, True, True)


def test_a_value_is_everything_after_the_first_equals_sign() -> None:
    asked = parse_run_arguments(["./a=b.json", "url=http://h/?q=1&r=-2", "empty=", "lines=a\nb", "ünter-x.y=1"])
    assert asked.workflow == "./a=b.json"
    assert asked.inputs == {"url": "http://h/?q=1&r=-2", "empty": "", "lines": "a\nb", "ünter-x.y": "1"}


def test_after_two_hyphens_nothing_is_an_option() -> None:
    assert parse_run_arguments(["--", "--json"]) == RunArguments("--json")


def test_help_needs_no_workflow(run_pflow: RunPflow) -> None:
    assert parse_run_arguments(["-h"]).help
    for given in (("run", "--help"), ("run", "-h"), ("run", "x", "--help")):
        assert run_pflow(*given).out == HELP


@pytest.mark.parametrize(
    ("given", "message", "hint"),
    [
        ([], "Missing argument 'NAME|FILE'.", "`pflow list`"),
        (["who=Ada"], "Missing argument 'NAME|FILE'.", "`pflow list`"),
        ([""], "'' is not an input", "KEY=VALUE"),
        (["x", "--jsn"], "No such option: --jsn.", "Did you mean --json?"),
        (["x", "-Z"], "No such option: -Z.", "pflow run --help"),
        (["x", "--only"], "Option '--only' requires an argument.", "--only NODE"),
        (["x", "--only", "--json"], "Option '--only' requires an argument.", "--only NODE"),
        (["x", "--cluster="], "Option '--cluster' requires an argument.", "--cluster ADDRESS"),
        (["x", "--json=yes"], "Option '--json' does not take a value.", "pflow run --help"),
        (["x", "y"], "'y' is not an input", "KEY=VALUE"),
        (["x", "=1"], "'=1' is not an input", "KEY=VALUE"),
        (["x", "a=1", "a=2"], "The input 'a' is given twice.", "once"),
    ],
)
def test_invalid_arguments_are_reported_with_a_fix(given: list[str], message: str, hint: str) -> None:
    with pytest.raises(InvalidRunArguments) as wrong:
        parse_run_arguments(given)
    assert wrong.value.message.startswith(message)
    assert hint in wrong.value.hint
    assert wrong.value.exit_code == 2


def test_an_unknown_option_is_reported_on_stderr_or_as_the_reply_of_a_run(run_pflow: RunPflow) -> None:
    report = run_pflow("run", "greet", "--frsh")
    assert (report.code, report.out) == (2, "")
    assert report.err == "error: No such option: --frsh.\nhint: Did you mean --fresh?\n"
    reply = run_pflow("run", "greet", "--frsh", "--json")
    assert (reply.code, reply.err) == (2, "")
    assert reply.json["success"] is False
    assert (reply.error["type"], reply.error["code"]) == ("validation_error", "usage")


def test_every_option_and_exit_code_is_in_the_help() -> None:
    for word in ("--only", "--dry-run", "--fresh", "--cluster", "--quiet", "-q", "--json", "--help", "-h"):
        assert word in HELP
    for code in (0, 2, 3, 4, 5, 130):
        assert f"\n  {code} " in HELP
