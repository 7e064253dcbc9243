"""Texts for schedulers keep any value unchanged."""

import plistlib
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pflow.errors import InvalidInputs
from pflow.service.scheduled_job import ScheduledJob, parse_timing
from pflow.service.system_schedulers import (
    LONGEST,
    format_cron_line,
    render_property_list,
    render_service,
    render_timer,
)

JOB = ScheduledJob(
    "report",
    parse_timing("mon 07:00"),
    ("/opt/my venv/bin/python", "-P", "-m", "pflow"),
    ("topic=x",),
    "/srv/50% of it",
    {"PATH": "/usr/bin:/opt/100%/bin"},
    "/srv/my logs/report.log",
)
HOSTILE = (
    "50% $HOME ${HOME} $(id) `id` %h %% \"quoted\" 'single' \\ \\n ; rm -rf / & | > < # [Service]",
    "line\n[Install]\nExecStart=/bin/false\ttab\r\x07",
    "ünïcode 名前 🪐",
    "",
    " spaces ",
    "</string><string>",
    "trailing\\",
)
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=60)


def parse_unit_words(unit: str) -> list[str]:
    """Return the words of ExecStart as systemd reads them: quotes, C escapes, specifiers, then variables."""
    (line,) = [line.removeprefix("ExecStart=") for line in unit.split("\n") if line.startswith("ExecStart=")]
    words = [word.encode() for word in re.findall(r'"((?:[^"\\]|\\.)*)"', line)]
    assert " ".join(f'"{word.decode()}"' for word in words) == line, "nothing stands outside the quotes"
    plain: list[str] = []
    for number, word in enumerate(words):
        raw = re.sub(rb"\\(x[0-9a-f]{2}|.)", lambda found: _unescape(found[1]), word).decode()
        assert not re.search(r"(?<!%)(?:%%)*%(?!%)", raw), "no specifier is left"
        raw = raw.replace("%%", "%")
        if number:
            assert not re.search(r"(?<!\$)(?:\$\$)*\$(?!\$)", raw), "no variable is left"
            raw = raw.replace("$$", "$")
        plain.append(raw)
    return plain


def _unescape(escape: bytes) -> bytes:
    return bytes([int(escape[1:], 16)]) if escape.startswith(b"x") and len(escape) == 3 else escape


def parse_cron_command(line: str) -> str:
    r"""Return the command that cron passes to the shell: the line after its five fields, with \% as %."""
    command = line.split(" ", 5)[5]
    assert not re.search(r"(?<!\\)%", command), "a bare % would end the command"
    return command.replace(r"\%", "%")


@pytest.mark.parametrize("value", HOSTILE)
def test_systemd_runs_exactly_the_given_words(value: str) -> None:
    job = replace(JOB, inputs=(f"topic={value}",))
    unit = render_service(job)
    assert parse_unit_words(unit) == job.command
    assert [line for line in unit.split("\n") if line.startswith("[")] == ["[Unit]", "[Service]"]
    assert "WorkingDirectory=/srv/50%% of it\n" in unit
    assert 'Environment="PATH=/usr/bin:/opt/100%%/bin"\nEnvironment="PFLOW_SCHEDULE=mon 07:00"\n' in unit


@given(TEXTS)
@settings(max_examples=200, deadline=None)
def test_any_text_is_one_word_for_systemd(value: str) -> None:
    job = replace(JOB, inputs=(f"topic={value}",))
    assert parse_unit_words(render_service(job)) == job.command


@given(TEXTS)
@settings(max_examples=200, deadline=None)
def test_any_text_that_launchd_can_carry_comes_back_from_the_property_list(value: str) -> None:
    job = replace(JOB, inputs=(f"topic={value}",))
    try:
        text = render_property_list(job)
    except InvalidInputs:
        assert re.search(r"[\x00-\x08\x0b-\x1f\x7f\ufffe\uffff]", value)
        return
    plain = plistlib.loads(text.encode())
    assert plain["ProgramArguments"] == job.command
    assert plain["WorkingDirectory"] == JOB.folder
    assert plain["EnvironmentVariables"] == {**JOB.environment, "PFLOW_SCHEDULE": "mon 07:00"}
    assert plain["StartCalendarInterval"] == [{"Weekday": 1, "Hour": 7, "Minute": 0}]
    assert (plain["Label"], plain["Umask"]) == ("org.uraniborg.pflow.report", 0o077)


def test_a_control_character_in_any_input_is_refused_by_its_name_for_launchd() -> None:
    with pytest.raises(InvalidInputs, match="The input 'place' has a control character") as refused:
        render_property_list(replace(JOB, inputs=("topic=x", "place=\x07", "last=y")))
    assert refused.value.hint == "Write it to a file, and give place=@FILE."


@pytest.mark.parametrize("value", [one for one in HOSTILE if "\\" not in one and "\n" not in one])
def test_a_cron_line_runs_exactly_the_given_words(tmp_path: Path, value: str) -> None:
    folder = tmp_path / "50% of 'it'"
    folder.mkdir()
    program = tmp_path / "my program"
    program.write_text('#!/bin/sh\nfor word in "$PWD" "$PATH" "$@"; do printf "%s\\0" "$word"; done\n')
    program.chmod(0o755)
    job = replace(JOB, program=(str(program),), inputs=(f"topic={value}",), folder=str(folder), log=str(folder / "log"))
    line = format_cron_line(job)
    assert "\n" not in line
    assert line.startswith("0 7 * * 1 ")
    done = subprocess.run(["/bin/sh", "-c", parse_cron_command(line)], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")
    words = (folder / "log").read_text(encoding="utf-8").split("\0")[:-1]
    assert words == [str(folder), JOB.environment["PATH"], *job.command[1:]]
    assert (folder / "log").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("value", ["a\nb", "a\\b", "a\rb", "\x07"])
def test_inputs_that_cron_cannot_store_are_refused_with_an_alternative(value: str) -> None:
    with pytest.raises(InvalidInputs, match="cron cannot store") as refused:
        format_cron_line(replace(JOB, inputs=(f"topic={value}",)))
    assert refused.value.hint == "Write it to a file, and give topic=@FILE."


def test_a_line_that_is_too_long_for_cron_is_refused() -> None:
    with pytest.raises(InvalidInputs, match=f"cron accepts {LONGEST}"):
        format_cron_line(replace(JOB, inputs=("topic=" + "ü" * 400,)))


@pytest.mark.parametrize("path", ["/a\nb", '/a"b', "/a$b", "/a\\b", "/a ", "/a\udcff"])
@pytest.mark.parametrize("where", ["folder", "log", "program"])
def test_paths_that_no_scheduler_carries_safely_are_refused(path: str, where: str) -> None:
    with pytest.raises(InvalidInputs, match="cannot be written into a schedule"):
        replace(JOB, **{where: (path,) if where == "program" else path})


def test_a_program_with_a_quote_in_its_path_is_refused() -> None:
    with pytest.raises(InvalidInputs, match="cannot be written into a schedule"):
        replace(JOB, program=("/o'brien/python",))


@pytest.mark.parametrize("value", ["a\0b"])
def test_inputs_that_are_not_text_are_refused(value: str) -> None:
    with pytest.raises(InvalidInputs, match="'topic' is not text"):
        replace(JOB, inputs=(f"topic={value}",))


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd")
def test_systemd_accepts_the_units(tmp_path: Path) -> None:
    folder = tmp_path / "50% of it"
    folder.mkdir()
    job = replace(JOB, program=("/bin/echo",), inputs=tuple(f"topic={one}" for one in HOSTILE), folder=str(folder))
    (tmp_path / "pflow-report.service").write_text(render_service(job), encoding="utf-8")
    (tmp_path / "pflow-report.timer").write_text(render_timer(job), encoding="utf-8")
    units = [str(tmp_path / f"pflow-report.{kind}") for kind in ("service", "timer")]
    env = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(tmp_path)}
    done = subprocess.run(
        ["systemd-analyze", "--user", "verify", *units], capture_output=True, text=True, check=False, env=env
    )
    assert done.returncode == 0, done.stderr
    assert "pflow-report" not in done.stderr, done.stderr
