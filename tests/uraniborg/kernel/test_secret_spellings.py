"""A known secret is found in every way in which text spells it, however many others are known."""

import json
import re
import string
import threading
from collections.abc import Callable
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from uraniborg.kernel import secrets_in_text as spellings
from uraniborg.kernel.secrets_in_text import KnownSecrets

SHORTEST_SECRET = 6

Spelling = Callable[[str], str]

secrets = (
    st.text(min_size=SHORTEST_SECRET, max_size=40).map(str.strip).filter(lambda text: len(text) >= SHORTEST_SECRET)
)


def percent(text: str, safe: str = "/") -> str:
    return quote(text, safe=safe, errors="surrogatepass")


def in_json(text: str) -> str:
    return json.dumps(text)[1:-1]


SPELLINGS: list[Spelling] = [
    str,
    lambda text: repr(text)[1:-1],
    lambda text: ascii(text)[1:-1],
    lambda text: repr(text.encode("utf-8", "surrogatepass"))[2:-1],
    in_json,
    lambda text: json.dumps(text, ensure_ascii=False)[1:-1],
    lambda text: in_json(text).replace("/", "\\/"),
    lambda text: re.sub(r"(?<=\\u)....", lambda found: found[0].upper(), in_json(text)),
    lambda text: in_json(in_json(text)),
    lambda text: repr(in_json(in_json(text)))[1:-1],
    percent,
    lambda text: percent(text, safe=""),
    lambda text: quote_plus(text, errors="surrogatepass"),
    lambda text: re.sub("%..", lambda found: found[0].lower(), percent(text)),
    lambda text: text.encode("utf-8", "surrogatepass").decode("utf-8", "surrogateescape"),
]


def known(*values: str) -> KnownSecrets:
    found = KnownSecrets()
    for value in values:
        found.add(value)
    return found


@given(secrets, st.sampled_from(SPELLINGS))
@example("""both ' and " quotes""", SPELLINGS[1])
@example("""both ' and " quotes""", SPELLINGS[9])
@example("back\\slash\\\\es\\", in_json)
@example('\\"\\\n\\é\\', SPELLINGS[8])
@example("percent%25%2525%", str)
@example("percent%25%2525%", percent)
@example("😀 smile 😀", in_json)
@example("half \ud800 half", percent)
def test_a_secret_is_found_whole_however_it_is_spelt(secret: str, spelling: Spelling) -> None:
    spelt = spelling(secret)
    found = known(secret)
    assert found.find_spans(spelt) == [(0, len(spelt))]
    assert len(spelt) <= found.longest


@given(secrets, st.sets(st.sampled_from(string.punctuation)))
def test_a_secret_is_found_in_any_percent_encoding(secret: str, safe: set[str]) -> None:
    spelt = percent(secret, safe="".join(safe))
    assert known(secret).find_spans(spelt) == [(0, len(spelt))]


@given(secrets, st.sampled_from(SPELLINGS), st.text(max_size=10), st.text(max_size=10))
@example("back\\slash\\", str, "\\\\\\\\", "\\\\\\\\")
@example("percent%", str, "%", "25")
def test_a_secret_is_found_in_any_surroundings(secret: str, spelling: Spelling, before: str, behind: str) -> None:
    spelt = spelling(secret)
    start, end = len(before), len(before) + len(spelt)
    assert any(one < end and other > start for one, other in known(secret).find_spans(before + spelt + behind))


@given(st.lists(secrets, min_size=1, max_size=4), st.text(string.ascii_letters + string.punctuation, max_size=30))
def test_where_they_are_does_not_depend_on_how_many_others_are_known(values: list[str], around: str) -> None:
    text = around.join(["", *values, *map(percent, values), ""])
    others = known(*(f"{number:07d}-another" for number in range(1_001)))
    for value in values:
        others.add(value)
    assert sorted(others.find_spans(text)) == sorted(known(*values).find_spans(text))


def test_a_short_text_is_compared_with_few_of_many(monkeypatch: pytest.MonkeyPatch) -> None:
    made = compilations(monkeypatch)
    many = known(*(f"sk-proj-{number:06d}" for number in range(1_000)))
    assert many.find_spans("a text of sk-proj-000777.") == [(10, 24)]
    assert len(made) == 1


def test_secrets_that_are_in_no_text_cost_no_pattern(monkeypatch: pytest.MonkeyPatch) -> None:
    made = compilations(monkeypatch)
    found = KnownSecrets()
    for number in range(1_000):
        found.add(f"key/{number:034d}+=")
        assert found.find_spans("a text with 34 words") == []
    assert found.find_spans(f"a text with key/{777:034d}+=")
    assert found.find_spans(f"and again with key/{777:034d}+=")
    assert len(made) == 1


def compilations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    made: list[str] = []

    class Counted:
        DOTALL = re.DOTALL
        escape = staticmethod(re.escape)

        @staticmethod
        def compile(pattern: str) -> re.Pattern[str]:
            made.append(pattern)
            return re.compile(pattern)

    monkeypatch.setattr(spellings, "re", Counted)
    return made


@pytest.mark.parametrize("secret", ["", "12345", "  12345  ", "\n\t \n\t \n"])
def test_values_that_are_too_short_are_ignored(secret: str) -> None:
    found = known(secret)
    assert found.values == frozenset()
    assert found.find_spans(f"text {secret} text 12345") == []


def test_a_secret_is_known_without_the_space_around_it_and_without_the_name_of_its_scheme() -> None:
    assert known(" Bearer  abc-123-def\n").values == {"Bearer  abc-123-def", "abc-123-def"}
    assert known("token " * 10_000 + "abc").find_spans("token abc") == []


@pytest.mark.parametrize("between", ["/", " \n", "é", "\\", "-"])
def test_a_secret_of_any_length_is_found_whole(between: str) -> None:
    secret = between.join(map(str, range(100_000)))
    found = known(secret)
    for spelt in (secret, in_json(secret), percent(secret)):
        assert found.find_spans(f"<{spelt}> <{spelt}>") == [(1, len(spelt) + 1), (len(spelt) + 4, 2 * len(spelt) + 4)]
    assert found.find_spans(f"<{secret[:-1]}>") == []


@pytest.mark.parametrize(
    ("secret", "text"),
    [
        ("\\" * 30 + "x", "\\" * 1_000_000 + "yx"),
        ("\\" * 30 + '"x', "\\" * 1_000_000 + '"yx'),
        ('"' * 30 + "x", "\\" * 1_000_000 + "x"),
        ("%" * 30 + "x", "%25" * 300_000 + "x%"),
        (" " * 30 + "x y", "+" * 1_000_000 + "x"),
    ],
)
def test_hostile_text_is_searched_before_the_tests_time_is_up(secret: str, text: str) -> None:
    assert known(f"x{secret}").find_spans(f"x{text}") == []


def test_threads_may_add_while_others_search() -> None:
    found = KnownSecrets()
    missed: list[Any] = []

    def work(number: int) -> None:
        for step in range(400):
            secret = f"secret-{number}-{step}-end"
            found.add(secret)
            if not found.find_spans(f"a {secret} b"):
                missed.append(secret)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert missed == []
    assert len(found.values) == 1_600
