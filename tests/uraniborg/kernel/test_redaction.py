"""Values come back without their secrets, and otherwise as they were."""

import json
import sys
import threading
from collections.abc import Callable, Iterator
from types import MappingProxyType
from typing import Any
from urllib.parse import quote, quote_plus, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from uraniborg.kernel.redaction import (
    MASK,
    Redactor,
    enable_redactor,
    is_sensitive,
    redact,
    register_secret,
)

SHORTEST_SECRET = 6

secrets = st.text(min_size=SHORTEST_SECRET).map(str.strip).filter(lambda text: len(text) >= SHORTEST_SECRET)
SPELLINGS: list[Callable[[str], str]] = [
    str,
    repr,
    json.dumps,
    lambda text: json.dumps({"inner": json.dumps(text, ensure_ascii=False)}),
    lambda text: quote(text, safe="", errors="surrogatepass"),
    lambda text: quote_plus(text, errors="surrogatepass"),
    lambda text: urlencode({"q": text}, errors="surrogatepass"),
]


def redactor_of(*values: str) -> Redactor:
    redactor = Redactor()
    for value in values:
        redactor.register(value)
    return redactor


def nested(leaf: st.SearchStrategy[Any], names: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    def deeper(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        return (
            st.lists(inner, min_size=1, max_size=3)
            | st.tuples(inner, st.integers())
            | st.dictionaries(names, inner, min_size=1, max_size=3)
        )

    return st.recursive(leaf, deeper, max_leaves=8)


def wherever(text: str) -> st.SearchStrategy[Any]:
    """Values with this text in them."""
    encoded = text.encode("utf-8", "surrogatepass")
    leaves = [text, {text: 1}, {text}, frozenset({text}), ValueError(text), encoded, {("a", text): 1}, {1: [text]}]
    return nested(st.sampled_from(leaves), st.text(max_size=5))


def texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():  # pyright: ignore[reportUnknownVariableType] - any shape is meant
            yield from texts(key)
            yield from texts(inner)
    elif isinstance(value, list | tuple | set | frozenset):
        for inner in value:  # pyright: ignore[reportUnknownVariableType] - any shape is meant
            yield from texts(inner)
    elif isinstance(value, bytes):
        yield value.decode("utf-8", "surrogatepass")
    else:
        yield str(value)


@given(st.data(), st.booleans())
def test_a_registered_secret_is_gone_wherever_it_was_and_however_it_was_spelt(data: st.DataObject, guess: bool) -> None:
    secret = data.draw(secrets)
    spelt = data.draw(st.sampled_from(SPELLINGS))(secret)
    value = data.draw(wherever(data.draw(st.text()) + spelt + data.draw(st.text())))
    redactor = redactor_of(secret)
    assert redactor.has_secret(value)
    masked = redactor(value, guess=guess)
    assert all(secret not in text and spelt not in text for text in texts(masked))
    assert not redactor.has_secret(masked)


@given(nested(st.text() | st.integers() | st.binary() | st.none(), st.text()), st.lists(secrets, max_size=3))
def test_a_value_holds_a_secret_exactly_if_masking_without_guesses_changes_it(value: Any, values: list[str]) -> None:
    redactor = redactor_of(*values)
    named = Redactor()(value, guess=False)
    assert redactor.has_secret(named) == (redactor(named, guess=False) != named)


@given(
    nested(
        st.text() | st.integers() | st.floats(allow_nan=False) | st.binary() | st.none() | st.booleans(),
        st.text().filter(lambda name: not is_sensitive(name)),
    )
)
def test_without_guesses_a_value_without_secrets_comes_back_as_it_was(value: Any) -> None:
    assert repr(Redactor()(value, guess=False)) == repr(value)


@given(nested(st.text(), st.text()) | st.integers() | st.floats() | st.none())
def test_redacting_twice_changes_nothing_more(value: Any) -> None:
    assert repr(redact(redact(value))) == repr(redact(value))


@pytest.mark.parametrize("name", ["api_key", "API-KEY", "apiKey", "Authorization", "Set-Cookie", "db.password"])
@pytest.mark.parametrize("guess", [True, False])
def test_a_telling_name_masks_its_value_however_it_is_written(name: str, guess: bool) -> None:
    masked = redact({"outer": [{name: "value"}, {name: ["a", "b"]}, {name: 1234}]}, guess=guess)
    assert masked == {"outer": [{name: MASK}, {name: MASK}, {name: MASK}]}


def test_names_that_only_resemble_a_secret_keep_their_values() -> None:
    kept = {"max_tokens": 4096, "key": "wang_2023_perovskite", "author": "Cook", "keywords": ["a"], "api_key": None}
    kept |= {"secretary": "Ann", "cookies_sold": 12, "next_page_token": "p2", "password": "", "token": False}
    assert redact(kept) == kept


def test_text_that_looks_like_a_secret_is_masked_only_where_guesses_are_wanted() -> None:
    value = {"url": "https://x.org/?key=abc&q=1", "how": ["set api_key=YOURS in the form"]}
    assert redact(value, guess=False) == value
    assert redact(value) == {"url": "https://x.org/?key=***&q=1", "how": ["set api_key=*** in the form"]}


def test_values_without_secrets_come_back_equal_and_of_the_same_type() -> None:
    for value in [
        1,
        1.5,
        None,
        True,
        "text",
        b"bytes",
        [1],
        (1, "a"),
        {"a": {1: 2}},
        {"x"},
        {frozenset({"x"})},
        object,
    ]:
        for redactor in (redact, redactor_of("another-secret")):
            assert redactor(value) == value
            assert type(redactor(value)) is type(value)


def test_any_mapping_is_read() -> None:
    assert redact(MappingProxyType({"api_key": "x", "n": 1})) == {"api_key": MASK, "n": 1}


def test_a_number_that_is_a_secret_is_masked_and_others_are_kept() -> None:
    redactor = redactor_of("123456", "9876.5")
    assert redactor([123456, -123456, 12345, 9876.5, {123456: 7}, 1]) == [MASK, "-***", 12345, MASK, {MASK: 7}, 1]
    assert redactor.has_secret({"pin": [123456]})
    assert redactor(10**5000) == 10**5000


def test_an_object_that_would_show_a_secret_is_shown_masked() -> None:
    class Holder:
        def __repr__(self) -> str:
            return "Holder(api_key='abc')"

    class Broken(Exception):
        def __repr__(self) -> str:
            raise RuntimeError

        __str__ = __repr__

    assert redact([Holder(), Broken()]) == ["Holder(api_key='***')", "<Broken>"]
    assert redact(SecretStr("anything"), guess=False) == MASK
    assert not redactor_of("abcdef").has_secret([Broken(), Holder()])


def test_secrets_that_overlap_are_masked_whole() -> None:
    redactor = redactor_of("abcdef", "abcdefghi", "fghijkl")
    assert redactor("abcdefghi abcdef") == "*** ***"
    assert redactor("<abcdefghijkl>") == "<***>"
    assert redactor("abcdefabcdef") == "******"


def test_a_secret_is_masked_whole_where_the_form_of_the_text_gives_away_a_part_of_it() -> None:
    assert redactor_of("abc def&ghi")("api_key=abc def&ghi") == "api_key=***"


def test_masking_never_joins_the_text_around_it_into_a_secret() -> None:
    assert "ab***cd" not in redactor_of("ab***cd")("abab***cdcd")
    assert "ab***cd" not in redactor_of("ab***cd", "inside")("abinsidecd")
    assert redactor_of("=***;cd")("token=abc;cd") == "token***"


def test_cyclic_and_very_deep_values_come_to_an_end() -> None:
    cyclic: list[Any] = ["hunter2-hunter2"]
    cyclic.append(cyclic)
    deep: Any = "hunter2-hunter2"
    for _ in range(100_000):
        deep = [deep]
    redactor = redactor_of("hunter2-hunter2")
    assert "hunter2" not in str(redactor(cyclic))
    assert "hunter2" not in json.dumps(redactor(deep))
    assert redactor.has_secret(cyclic)
    assert redactor.has_secret(deep)


def test_a_value_nested_256_deep_keeps_its_shape_even_far_down_the_stack() -> None:
    deep: Any = ["bottom"]
    for _ in range(127):
        deep = [{"a": deep}]

    def below(levels: int) -> Any:
        return below(levels - 1) if levels else redact(deep, guess=False)

    assert below(sys.getrecursionlimit() - 700) == deep


def test_megabytes_of_hostile_text_are_redacted_before_the_tests_time_is_up() -> None:
    redactor = redactor_of(*(f"secret-{number}" for number in range(100)))
    for piece in ("://a:", "a.-", "bearer ", "secret-", "token=", "\\", "%2f"):
        assert isinstance(redactor(piece * (1_000_000 // len(piece))), str)


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


@given(
    st.lists(st.sampled_from(["abc/def", "abc%2Fdef", "abc/", "def", "abc/defghi", "ghi", " ", "é"]), max_size=30),
    st.integers(1, 40),
)
def test_a_text_in_pieces_is_masked_as_if_it_came_whole(words: list[str], size: int) -> None:
    text = "".join(words)
    redactor = redactor_of("abc/def", "abc/defghi", "ghi é ghi")
    pieces = list(redactor.mask_pieces(text[at : at + size] for at in range(0, len(text), size)))
    assert "".join(piece for piece, _ in pieces) == text
    assert "".join(masked for _, masked in pieces) == redactor(text, guess=False)


def test_of_a_long_text_in_pieces_only_the_last_of_them_is_kept_back() -> None:
    pieces = redactor_of("a-secret").mask_pieces(iter(["x" * 1000, "y" * 1000, "z"]))
    assert len(next(pieces)[0]) > 900
    assert len(next(pieces)[0]) > 900


def test_a_registered_secret_is_masked_by_the_redactor_of_the_process() -> None:
    register_secret("Bearer of-the-process-1")
    assert redact("told: of-the-process-1") == f"told: {MASK}"


def test_the_secrets_of_another_redactor_are_masked_while_that_is_in_force_and_no_longer() -> None:
    one, other = redactor_of("of-one-run-1"), redactor_of("of-other-run-2", "run-1 and of")
    with enable_redactor(one):
        with enable_redactor(other), enable_redactor(one):
            assert redact("of-one-run-1 and of-other-run-2") == MASK
            assert redact.has_secret(["of-other-run-2"])
        assert redact("of-one-run-1 and of-other-run-2") == f"{MASK} and of-other-run-2"
    assert redact("of-one-run-1") == "of-one-run-1"
    assert one("of-other-run-2") == "of-other-run-2"


def test_masking_ends_after_an_error_and_in_any_order() -> None:
    one, other = redactor_of("of-one-run-1"), redactor_of("of-other-run-2")
    first, second = enable_redactor(one), enable_redactor(other)
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert redact("of-one-run-1, of-other-run-2") == f"of-one-run-1, {MASK}"
    second.__exit__(ZeroDivisionError, ZeroDivisionError(), None)
    assert redact("of-other-run-2") == "of-other-run-2"
