"""Log lines go to one stream, in one shape, and hold no secret, whoever wrote them."""

import io
import json
import logging
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote, quote_plus, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.logging import (
    MASK,
    Redactor,
    configure_logging,
    get_logger,
    printable,
    redact,
    register_secret,
)

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


secrets = st.text(min_size=6).map(str.strip).filter(lambda text: len(text) >= 6)
SPELLINGS: list[Callable[[str], str]] = [
    str,
    repr,
    json.dumps,
    lambda text: json.dumps(text, ensure_ascii=False),
    lambda text: quote(text, safe="", errors="surrogatepass"),
    lambda text: quote(text, safe="/:", errors="surrogatepass"),
    lambda text: quote_plus(text, errors="surrogatepass"),
    lambda text: urlencode({"q": text}, errors="surrogatepass"),
    lambda text: re.sub("%..", lambda found: found[0].lower(), quote(text, errors="surrogatepass")),
]


def nested(leaf: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    def deeper(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        return (
            st.lists(inner, min_size=1, max_size=3)
            | st.tuples(inner, st.integers())
            | st.dictionaries(st.text(max_size=5), inner, min_size=1, max_size=3)
            | leaf.map(lambda text: {text: 1})
            | leaf.map(lambda text: {text})
            | leaf.map(ValueError)
            | leaf.map(lambda text: text.encode("utf-8", "replace"))
        )

    return st.recursive(leaf, deeper, max_leaves=8)


@given(st.data())
def test_a_registered_secret_is_gone_wherever_it_was_and_however_it_was_spelt(data: st.DataObject) -> None:
    secret = data.draw(secrets)
    spelt = data.draw(st.sampled_from(SPELLINGS))(secret)
    redactor = Redactor()
    redactor.register(secret)
    value = data.draw(nested(st.tuples(st.text(), st.text()).map(lambda around: around[0] + spelt + around[1])))
    assert all(secret not in text and spelt not in text for text in texts(redactor(value)))


def texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():  # pyright: ignore[reportUnknownVariableType] - any shape is meant
            yield from texts(key)
            yield from texts(inner)
    elif isinstance(value, list | tuple | set):
        for inner in value:  # pyright: ignore[reportUnknownVariableType] - any shape is meant
            yield from texts(inner)
    elif isinstance(value, str | bytes):
        yield value if isinstance(value, str) else value.decode("utf-8", "replace")


@given(nested(st.text()) | st.integers() | st.floats() | st.none())
def test_redacting_twice_changes_nothing_more(value: Any) -> None:
    assert repr(redact(redact(value))) == repr(redact(value))


@pytest.mark.parametrize(
    "name",
    [
        "api_key",
        "API-KEY",
        "apiKey",
        "x-api-key",
        "Authorization",
        "access_token",
        "Set-Cookie",
        "db.password",
        "clientSecret",
    ],
)
def test_a_telling_name_masks_its_value_however_it_is_written(name: str) -> None:
    assert redact({"outer": [{name: "value"}, {name: ["a", "b"]}, {name: 1234}]}) == {
        "outer": [{name: MASK}, {name: MASK}, {name: MASK}]
    }


def test_names_that_only_resemble_a_secret_keep_their_values() -> None:
    kept = {"max_tokens": 4096, "key": "wang_2023_perovskite", "author": "Cook", "keywords": ["a"], "api_key": None}
    assert redact(kept) == kept


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("https://h/x?q=a&api_key=abc123&n=1#f", "https://h/x?q=a&api_key=***&n=1#f"),
        ("https://h/x?key=AIza77", "https://h/x?key=***"),
        ("https://someone:pass@h/x", "https://***@h/x"),
        ('{"api_key": "abc", "n": 1}', '{"api_key": "***", "n": 1}'),
        ("Config(api_key='abc', n=1)", "Config(api_key='***', n=1)"),
        ("Authorization: Bearer abc.def-ghi", "Authorization: ***"),
        ("sent with Bearer abc.def-gh1 today", "sent with Bearer *** today"),
        ("A standard bearer walked: basic research", "A standard bearer walked: basic research"),
        ("the token ring=ring was a network", "the token ring=ring was a network"),
    ],
)
def test_secrets_in_text_are_masked_without_being_registered(text: str, masked: str) -> None:
    assert redact(text) == masked


def test_values_without_secrets_come_back_equal_and_of_the_same_type() -> None:
    for value in [1, 1.5, None, True, "text", b"bytes", [1], (1, "a"), {"a": {1: 2}}, {"x"}, object]:
        assert redact(value) == value
        assert type(redact(value)) is type(value)


def test_an_object_that_would_show_a_secret_is_shown_masked() -> None:
    class Holder:
        def __repr__(self) -> str:
            return "Holder(api_key='abc')"

    class Broken:
        def __repr__(self) -> str:
            raise RuntimeError

    assert redact([Holder(), Broken()]) == ["Holder(api_key='***')", "<Broken>"]
    assert redact(SecretStr("anything")) == MASK


def test_the_longest_of_two_secrets_that_overlap_is_masked_whole() -> None:
    redactor = Redactor()
    redactor.register("abcdef")
    redactor.register("abcdefghi")
    assert redactor("abcdefghi abcdef") == "*** ***"


def test_masking_never_joins_the_text_around_it_into_a_secret() -> None:
    redactor = Redactor()
    redactor.register("ab***cd")
    assert "ab***cd" not in redactor("abab***cdcd")


def test_values_too_short_to_be_told_from_other_text_are_ignored() -> None:
    redactor = Redactor()
    redactor.register("")
    redactor.register("  abc12  ")
    assert redactor("abc12") == "abc12"


def test_cyclic_and_very_deep_values_come_to_an_end() -> None:
    cyclic: list[Any] = ["hunter2-hunter2"]
    cyclic.append(cyclic)
    deep: Any = "hunter2-hunter2"
    for _ in range(100_000):
        deep = [deep]
    redactor = Redactor()
    redactor.register("hunter2-hunter2")
    assert "hunter2" not in str(redactor(cyclic))
    assert "hunter2" not in json.dumps(redactor(deep))


def test_megabytes_of_hostile_text_are_redacted_before_the_tests_time_is_up() -> None:
    for piece in ("://", "://a:", "a.-", "'api_key'", "bearer ", "token=", "?key=", "authorization: "):
        assert isinstance(redact(piece * (1_000_000 // len(piece))), str)


def test_threads_may_register_while_others_redact() -> None:
    redactor = Redactor()
    leaks: list[str] = []

    def work(number: int) -> None:
        for step in range(20):
            secret = f"secret-{number}-{step}-end"
            redactor.register(secret)
            if secret in redactor({"text": f"a {secret} b"})["text"]:
                leaks.append(secret)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert leaks == []


@given(st.text())
def test_printable_text_obeys_no_control_character_and_can_always_be_written(text: str) -> None:
    shown = printable(text, keep="")
    shown.encode("utf-8")
    assert not set(shown) & set("\x00\x1b\x07\x9b\r\n\x7f\u202e\u2066\u2028")


def test_printable_keeps_lines_tabs_and_every_script() -> None:
    assert printable("a\tb\nשלום 漢字 é") == "a\tb\nשלום 漢字 é"
    assert printable("\x1b[2Jgone\r") == "\\x1b[2Jgone\\r"


def test_lines_are_json_when_the_stream_is_no_terminal() -> None:
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
