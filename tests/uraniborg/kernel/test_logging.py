"""Log lines of all loggers go to one stream, in one shape, without secrets."""

import io
import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.logging import (
    MASK,
    Redactor,
    configure_logging,
    get_logger,
    make_printable,
    register_secret,
)
from uraniborg.kernel.redaction import enable_redactor

SECRET = "s3/cr+t välue%41"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _logging_as_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


@given(st.text())
def test_printable_text_obeys_no_control_character_and_can_always_be_written(text: str) -> None:
    shown = make_printable(text, keep="")
    shown.encode("utf-8")
    assert not set(shown) & set("\x00\x1b\x07\x9b\r\n\x7f\u202e\u2066\u2028")


def test_printable_keeps_lines_tabs_and_every_script() -> None:
    assert make_printable("a\tb\nשלום 漢字 é") == "a\tb\nשלום 漢字 é"
    assert make_printable("\x1b[2Jgone\r") == "\\x1b[2Jgone\\r"


def test_lines_are_json_when_the_stream_is_not_a_terminal() -> None:
    stream = io.StringIO()
    configure_logging("info", stream)
    get_logger("uraniborg.test").bind(session="ses_1").info("100% done\nreally", papers=25, api_key="abcdef")
    (line,) = lines(stream)
    assert line["timestamp"].endswith("Z")
    del line["timestamp"]
    assert line == {
        "event": "100% done\nreally",
        "level": "info",
        "logger": "uraniborg.test",
        "session": "ses_1",
        "papers": 25,
        "api_key": MASK,
    }


def test_lines_are_for_people_on_a_terminal_and_cannot_be_forged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    stream = Terminal()
    configure_logging("info", stream)
    get_logger("part").warning("found\n2026 [error] forged", title="\x1b[31mred")
    (line,) = stream.getvalue().splitlines()
    assert "found\\n2026 [error] forged" in line
    assert "warning" in line
    assert "\x1b" not in line


def test_colour_is_used_on_a_terminal_that_was_not_asked_to_go_without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    stream = Terminal()
    configure_logging("info", stream)
    get_logger("part").info("found")
    assert "\x1b[" in stream.getvalue()


@pytest.mark.parametrize(("stream", "force", "is_json"), [(Terminal(), True, True), (io.StringIO(), False, False)])
def test_the_shape_can_be_forced(stream: io.StringIO, force: bool, is_json: bool) -> None:
    configure_logging("info", stream, force_json=force)
    get_logger("part").info("found")
    assert stream.getvalue().startswith("{") is is_json


def test_other_libraries_log_through_the_same_masks_and_level() -> None:
    register_secret(SECRET)
    stream = io.StringIO()
    configure_logging("info", stream)
    foreign = logging.getLogger("httpx")
    foreign.info('HTTP Request: %s %s "%s"', "GET", f"https://h/?q={quote_plus(SECRET)}&apikey=abc", "200 OK")
    foreign.debug("too fine")
    foreign.error("lost", exc_info=ValueError(f"connection to {SECRET} failed"))
    assert [line["event"] for line in lines(stream)] == [
        'HTTP Request: GET https://h/?q=***&apikey=*** "200 OK"',
        "lost",
    ]
    assert "connection to *** failed" in lines(stream)[1]["exception"]
    assert lines(stream)[1]["logger"] == "httpx"


@pytest.mark.parametrize("as_json", [True, False])
def test_the_text_of_an_exception_and_of_its_causes_is_masked(as_json: bool) -> None:
    register_secret(SECRET)
    stream = io.StringIO()
    configure_logging("info", stream, force_json=as_json)

    def fail() -> None:
        raise RuntimeError(f"again {SECRET}") from ValueError(SECRET)

    try:
        fail()
    except RuntimeError:
        get_logger("part").exception("failed", found=SECRET)
    assert "RuntimeError: again ***" in stream.getvalue()
    assert "ValueError: ***" in stream.getvalue()
    assert SECRET not in stream.getvalue()


def test_an_exception_can_be_logged_after_it_was_handled() -> None:
    stream = io.StringIO()
    configure_logging("info", stream)
    get_logger("part").exception("failed", exc=ValueError("late"))
    get_logger("part").exception("failed")
    assert lines(stream)[0]["exception"] == "ValueError: late"
    assert "exception" not in lines(stream)[1]


def test_before_anything_is_configured_lines_reach_the_hosts_logging_masked() -> None:
    stream = io.StringIO()
    root = logging.getLogger()
    root.handlers[:] = [logging.StreamHandler(stream)]
    root.setLevel("INFO")
    register_secret(SECRET)
    log = get_logger("part")
    log.info("asked\x1b", url=f"https://h/?q={SECRET}", n=3)
    log.exception("failed", exc=ValueError(SECRET))
    assert stream.getvalue() == "asked\\x1b url='https://h/?q=***' n=3\nfailed\nValueError: ***\n"


def test_while_another_redactor_is_in_force_its_secrets_are_in_no_line_of_any_logger() -> None:
    stream = io.StringIO()
    configure_logging("info", stream)
    redactor = Redactor()
    redactor.register("of-one-run-qzxa")
    with enable_redactor(redactor):
        redactor.register("met-later-qzxb")
        get_logger("part").info("has of-one-run-qzxa", found="met-later-qzxb")
        logging.getLogger("httpx").info("GET %s", "https://h/met-later-qzxb")
    assert "qzx" not in stream.getvalue()
    get_logger("part").info("has of-one-run-qzxa")
    assert lines(stream)[-1]["event"] == "has of-one-run-qzxa"


def test_configuring_again_replaces_the_earlier_handlers() -> None:
    first, second = io.StringIO(), io.StringIO()
    configure_logging("info", first)
    configure_logging("warning", second)
    get_logger("part").info("too fine")
    get_logger("part").error("once")
    assert first.getvalue() == ""
    assert [line["event"] for line in lines(second)] == ["once"]


CYCLIC: list[Any] = []
CYCLIC.append(CYCLIC)


@pytest.mark.parametrize(
    "value", [object(), {("a", 1): 2}, {1, 2}, b"\xff", float("nan"), "\ud800", ValueError("x"), CYCLIC]
)
def test_any_value_can_be_logged(value: Any) -> None:
    stream = io.StringIO()
    configure_logging("info", stream)
    get_logger("part").info("odd", value=value)
    assert "value" in lines(stream)[0]


def test_a_line_that_cannot_be_written_is_reported_without_its_content() -> None:
    stream = io.StringIO()
    configure_logging("info", stream)
    logging.getLogger("careless").info("%d", "hunter2")
    assert "careless" in stream.getvalue()
    assert "hunter2" not in stream.getvalue()


def test_a_stream_that_was_closed_stops_nothing() -> None:
    stream = io.StringIO()
    configure_logging("info", stream)
    stream.close()
    get_logger("part").info("into the void")


def test_an_unknown_level_is_refused_with_those_there_are() -> None:
    with pytest.raises(InvalidInput) as caught:
        configure_logging("loud")
    assert "debug, info, warning, error, critical" in caught.value.hint


def test_getting_a_logger_neither_loads_structlog_nor_writes_to_stdout() -> None:
    code = (
        "import sys; from uraniborg.kernel.logging import get_logger, configure_logging\n"
        "get_logger('x').warning('early'); assert 'structlog' not in sys.modules\n"
        "configure_logging('info'); get_logger('x').info('late')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=50, check=True)
    assert done.stdout == ""
    assert done.stderr.startswith("early\n{")
