import logging
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from paper_search.sources.transport.request_policies import Auth, KeyMaskingFilter
from uraniborg.kernel.logging import redact

SECRET = "a key/with+signs&more"


def make_auth(secret: str) -> Auth:
    return Auth("param", "key", SecretStr(secret))


def format_log_line(message: str, *args: Any) -> str:
    record = logging.LogRecord("httpx", logging.INFO, "", 0, message, args, None)
    assert KeyMaskingFilter([make_auth(SECRET)]).filter(record)
    return record.getMessage()


@pytest.mark.parametrize(
    "spelt", [SECRET, "a%20key%2Fwith%2Bsigns%26more", "a+key%2Fwith%2Bsigns%26more"], ids=["plain", "path", "query"]
)
def test_a_key_is_masked_however_it_is_spelt(spelt: str) -> None:
    assert make_auth(SECRET).mask_key(f"<{spelt}>".encode()) == b"<***>"
    assert format_log_line("%s %d", f"https://a.example/?key={spelt}", 200) == "https://a.example/?key=*** 200"


def test_text_without_a_key_is_not_changed() -> None:
    assert format_log_line("%r and %d", {"key": "other"}, 7) == "{'key': 'other'} and 7"
    assert format_log_line("nothing to fill in") == "nothing to fill in"


def test_a_key_too_short_to_differ_from_text_masks_nothing() -> None:
    assert make_auth("the").mask_key(b"the theory of the atom") == b"the theory of the atom"


def test_a_key_is_hidden_in_its_repr() -> None:
    assert SECRET not in repr(make_auth(SECRET))
    KeyMaskingFilter([make_auth("registered-by-the-filter")])
    assert redact("x registered-by-the-filter y") == "x *** y"


@given(st.text(min_size=6), st.binary())
def test_no_stored_answer_contains_the_key(secret: str, around: bytes) -> None:
    try:
        spelt = secret.encode()
    except UnicodeEncodeError:
        return
    if b"*" not in spelt:
        assert spelt not in make_auth(secret).mask_key(around + spelt + around)
