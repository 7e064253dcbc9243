"""Which values are secrets, and that none of them is in anything that is written or answered."""

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pflow.errors import NodeFailed
from pflow.redaction import SHORTEST, Secrets, is_sensitive, secret_params
from tests.requirements import requirement
from uraniborg.kernel.logging import MASK, Redactor, redact, register_secret

SECRET = "s3cr3t-Val/ue+9"
SECRETS = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zs"]), min_size=SHORTEST, max_size=30)


@pytest.fixture(autouse=True, scope="module")
def _known_to_no_log() -> Iterator[None]:
    """Secrets are made known to the log of the process: other tests are not to find their texts masked by ours."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pflow.redaction.register_secret", Redactor().register)
        yield


@requirement("PF-N4")
@pytest.mark.parametrize(
    "name",
    [
        "api_key",
        "apiKey",
        "APIKey",
        "api-key",
        "apikey",
        "X-API-Key",
        "OPENAI_API_KEY",
        "AWS_SECRET_ACCESS_KEY",
        "GITHUB_TOKEN",
        "githubToken",
        "token",
        "auth_token",
        "access_token",
        "access_tokens",
        "refreshToken",
        "password",
        "Password",
        "db_password",
        "dbPassword",
        "dbpassword",
        "password2",
        "passwords",
        "passwd",
        "pwd",
        "passphrase",
        "secret",
        "client_secret",
        "secrets",
        "Authorization",
        "proxy-authorization",
        "auth",
        "cookie",
        "Set-Cookie",
        "credential",
        "credentials",
        "private_key",
        "privateKey",
        "ssh_key",
        "bearer",
    ],
)
def test_a_value_of_such_a_name_is_a_secret(name: str) -> None:
    assert is_sensitive(name)


@requirement("PF-N4")
@pytest.mark.parametrize(
    "name",
    [
        "author",
        "authors",
        "authored_by",
        "authority",
        "max_tokens",
        "maxTokens",
        "tokens_total",
        "total_tokens",
        "tokenizer",
        "keyboard",
        "key",
        "keys",
        "primary_key",
        "monkey",
        "secretary",
        "compass",
        "passenger",
        "path",
        "cookies_eaten",
        "name",
        "url",
        "message",
        "api_key_header",
        "token_type",
        "auth_type",
        "password_file",
        "private_key_path",
        "credentials_path",
        "",
        "名前",
    ],
)
def test_a_value_of_such_a_name_is_none(name: str) -> None:
    assert not is_sensitive(name)


@requirement("PF-N4")
def test_a_secret_is_masked_however_deep_it_is_in_a_value() -> None:
    value = {
        "url": f"https://x.example/?q={SECRET}",
        "list": [SECRET, {"inner": f"before {SECRET} behind"}, (SECRET,)],
        SECRET: "as a key",
        "n": 5,
        "plain": "kept",
    }
    masked = Secrets([SECRET]).masked(value)
    assert SECRET not in repr(masked)
    assert (masked["n"], masked["plain"]) == (5, "kept")
    assert masked["list"][1]["inner"] == f"before {MASK} behind"


@requirement("PF-N4")
def test_a_secret_is_masked_by_its_name_even_if_nobody_knew_its_value() -> None:
    masked = Secrets().masked(
        {"headers": {"Authorization": "Bearer unknown-123"}, "api_key": "unknown", "author": "Ada"}
    )
    assert masked == {"headers": {"Authorization": MASK}, "api_key": MASK, "author": "Ada"}


@requirement("PF-N4")
def test_a_secret_is_masked_in_the_text_of_an_error_and_in_its_body() -> None:
    error = NodeFailed(
        f"curl: could not reach https://u:{SECRET}@host", hint=f"Is {SECRET} right?", command=f"x {SECRET}"
    )
    secrets = Secrets([SECRET])
    assert SECRET not in orjson.dumps(secrets.masked(error.body())).decode()
    assert SECRET not in secrets.masked(str(error))
    assert SECRET not in secrets.masked(error)


@requirement("PF-N4")
def test_a_secret_of_a_run_is_masked_in_every_log_record_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pflow.redaction.register_secret", register_secret)
    Secrets(["registered-with-the-log-1"])
    assert redact("told: registered-with-the-log-1") == f"told: {MASK}"


def test_secrets_of_one_run_are_not_those_of_another() -> None:
    Secrets(["of-another-run-77"])
    assert Secrets(["of-this-run-88"]).masked("of-another-run-77") == "of-another-run-77"


def test_all_texts_of_a_secret_value_are_secrets() -> None:
    secrets = Secrets([{"user": "ada-lovelace", "deep": ["enigma-1815"]}, 123456789, None, True])
    assert secrets.values == {"ada-lovelace", "enigma-1815", "123456789"}
    assert secrets.masked("by ada-lovelace, 123456789") == f"by {MASK}, {MASK}"


def test_what_is_too_short_to_be_told_from_other_text_is_no_secret() -> None:
    secrets = Secrets(["", " ", "abc", "12345", 7, "  ab  \n"])
    assert secrets.values == set()
    assert secrets.masked("abc 12345") == "abc 12345"
    assert not secrets.are_in("abc 12345")


@pytest.mark.parametrize("value", [f"Bearer {SECRET}", f"bearer  {SECRET}\n", f"Basic {SECRET}", f"token {SECRET}"])
def test_a_secret_behind_the_name_of_its_scheme_is_one_alone_too(value: str) -> None:
    secrets = Secrets([value])
    assert secrets.are_in({"echoed": SECRET})
    assert SECRET not in secrets.masked(f"the server said {SECRET}")


def test_a_secret_read_with_the_end_of_its_line_is_found_without_it() -> None:
    secrets = Secrets([f"{SECRET}\n"])
    assert secrets.are_in(f"<{SECRET}>")
    assert secrets.masked(SECRET) == MASK


@pytest.mark.parametrize(
    "value",
    [
        SECRET,
        [[{"a": (f"x{SECRET}y",)}]],
        {SECRET: 1},
        {f"k-{SECRET}"},
        SECRET.encode(),
        quote(SECRET, safe=""),
        quote(SECRET),
    ],
)
def test_a_secret_within_a_value_is_found(value: Any) -> None:
    assert Secrets([SECRET]).are_in(value)


@pytest.mark.parametrize("value", [123456789, {"pin": 123456789}, "pin 123456789", [{"a": [123456789]}]])
def test_a_secret_number_is_found_as_number_and_as_text(value: Any) -> None:
    assert Secrets([123456789]).are_in(value)


@pytest.mark.parametrize("value", ["", "other", {"a": ["b", 5, None, True]}, SECRET[:-1], SECRET.upper()])
def test_where_there_is_no_secret_none_is_found(value: Any) -> None:
    assert not Secrets([SECRET]).are_in(value)
    assert not Secrets().are_in(value)


def test_a_secret_is_found_at_any_depth() -> None:
    value: Any = SECRET
    for _ in range(3_000):
        value = [value]
    assert Secrets([SECRET]).are_in(value)


@given(SECRETS, st.text(max_size=10), st.text(max_size=10))
def test_a_secret_is_found_and_masked_as_it_is_and_as_json(secret: str, before: str, behind: str) -> None:
    secrets = Secrets([secret])
    for text in (before + secret + behind, json.dumps({"x": secret}), json.dumps([secret], ensure_ascii=False)):
        assert secrets.are_in({"out": [text]})
        assert secret.strip() not in secrets.masked(text)
        assert json.dumps(secret.strip())[1:-1] not in secrets.masked(text)


def test_parameters_are_secrets_by_their_names_however_deep() -> None:
    params = {
        "url": "https://x.example",
        "auth_token": "one",
        "headers": {"Authorization": "two", "Accept": "no", "x": [{"apiKey": "three"}, "no"]},
        "env": {"GITHUB_TOKEN": {"whole": "four"}},
        "api_key_header": "X-API-Key",
        "max_tokens": 5,
    }
    assert sorted(map(str, secret_params(params))) == sorted(["one", "two", "three", "{'whole': 'four'}"])
    assert secret_params({}) == []
