"""Detection of secrets, and their masking in everything that is written or returned."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote, quote_plus, urlencode

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pflow.domain.redaction import Secrets, find_secret_param_values
from pflow.errors import NodeFailed
from pflow.store.run_recorder import mask_file
from tests.requirements import requirement
from uraniborg.kernel.redaction import MASK, enable_redactor, is_sensitive, redact

SHORTEST = 6

SECRET = "s3cr3t-Val/ue+9"
SPELLINGS: list[Callable[[str], str]] = [
    lambda text: urlencode({"p": text}),
    quote_plus,
    repr,
    json.dumps,
    lambda text: repr(text.encode()),
]
SECRETS = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zs"]), min_size=SHORTEST, max_size=30)


@requirement("PF-N4")
@pytest.mark.parametrize("name", ["api_key", "X-API-Key", "GITHUB_TOKEN", "dbPassword", "Authorization", "credentials"])
def test_a_value_of_such_a_name_is_a_secret(name: str) -> None:
    assert is_sensitive(name)


@requirement("PF-N4")
@pytest.mark.parametrize("name", ["author", "max_tokens", "tokens_total", "next_page_token", "api_key_header", "path"])
def test_a_value_of_such_a_name_is_not_a_secret(name: str) -> None:
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
    masked = Secrets([SECRET]).mask(value)
    assert SECRET not in repr(masked)
    assert (masked["n"], masked["plain"]) == (5, "kept")
    assert masked["list"][1]["inner"] == f"before {MASK} behind"


@requirement("PF-N4")
def test_a_secret_is_masked_by_its_name_even_if_its_value_is_unknown() -> None:
    masked = Secrets().mask({"headers": {"Authorization": "Bearer unknown-123"}, "api_key": "unknown", "author": "Ada"})
    assert masked == {"headers": {"Authorization": MASK}, "api_key": MASK, "author": "Ada"}


@requirement("PF-N4")
def test_a_secret_is_masked_in_the_text_of_an_error_and_in_its_body() -> None:
    error = NodeFailed(
        f"curl: could not reach https://u:{SECRET}@host", hint=f"Is {SECRET} right?", command=f"x {SECRET}"
    )
    secrets = Secrets([SECRET])
    assert SECRET not in orjson.dumps(secrets.mask(error.body())).decode()
    assert SECRET not in secrets.mask(str(error))
    assert SECRET not in secrets.mask(error)


@requirement("PF-N4")
def test_a_secret_of_a_run_is_masked_in_every_log_record_while_it_lasts_and_no_longer() -> None:
    secrets = Secrets(["Bearer known-before-1"])
    with enable_redactor(secrets.redactor):
        secrets.add(["known-later-1"])
        assert redact("told: known-before-1, known-later-1") == f"told: {MASK}, {MASK}"
    assert redact("told: known-before-1, known-later-1") == "told: known-before-1, known-later-1"


@requirement("PF-N4")
def test_text_that_only_looks_like_a_secret_is_stored_where_nothing_is_to_be_guessed() -> None:
    value = {"url": f"https://x.org/?key=abc&q={quote_plus(SECRET)}", "how": "set api_key=YOURS", "token": "x"}
    masked = Secrets([SECRET]).mask(value, guess=False)
    assert masked == {"url": f"https://x.org/?key=abc&q={MASK}", "how": "set api_key=YOURS", "token": MASK}
    assert Secrets([SECRET]).mask(value)["how"] == f"set api_key={MASK}"


def test_secrets_of_one_run_are_not_those_of_another() -> None:
    Secrets(["of-another-run-77"])
    assert Secrets(["of-this-run-88"]).mask("of-another-run-77") == "of-another-run-77"


def test_all_texts_of_a_secret_value_are_secrets() -> None:
    secrets = Secrets([{"user": "ada-lovelace", "deep": ["enigma-1815"]}, 123456789, None, True])
    assert secrets.own_values == {"ada-lovelace", "enigma-1815", "123456789"}
    assert secrets.mask("by ada-lovelace, 123456789") == f"by {MASK}, {MASK}"


def test_a_text_that_is_too_short_is_not_a_secret() -> None:
    secrets = Secrets(["", " ", "abc", "12345", 7, "  ab  \n"])
    assert secrets.own_values == set()
    assert secrets.mask("abc 12345") == "abc 12345"
    assert not secrets.has_secret_in("abc 12345")
    assert secrets.has_secret_in({"only": [" abc "]})


@pytest.mark.parametrize("value", [f"Bearer {SECRET}", f"bearer  {SECRET}\n", f"Basic {SECRET}", f"token {SECRET}"])
def test_a_secret_behind_the_name_of_its_scheme_is_one_alone_too(value: str) -> None:
    secrets = Secrets([value])
    assert secrets.has_secret_in({"echoed": SECRET})
    assert SECRET not in secrets.mask(f"the server said {SECRET}")


def test_a_secret_read_with_the_end_of_its_line_is_found_without_it() -> None:
    secrets = Secrets([f"{SECRET}\n"])
    assert secrets.has_secret_in(f"<{SECRET}>")
    assert secrets.mask(SECRET) == MASK


@pytest.mark.parametrize(
    "value",
    [
        SECRET,
        [[{"a": (f"x{SECRET}y",)}]],
        {SECRET: 1},
        {f"k-{SECRET}"},
        SECRET.encode(),
        quote(SECRET, safe=""),
        quote(SECRET, safe="+"),
        quote(SECRET),
    ],
)
def test_a_secret_inside_a_value_is_found(value: Any) -> None:
    assert Secrets([SECRET]).has_secret_in(value)


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_every_spelling_of_a_secret_is_masked_in_values_and_in_files(
    spelling: Callable[[str], str], tmp_path: Path
) -> None:
    passphrase = "correct horse 'battery' \"stäple\" \\ 100%"
    secrets = Secrets([passphrase])
    spelt = spelling(passphrase)
    path = tmp_path / "out"
    path.write_text(spelt)
    mask_file(path, secrets)
    assert secrets.has_secret_in({"out": [spelt]})
    assert "horse" not in secrets.mask(spelt)
    assert "horse" not in path.read_text()


@pytest.mark.parametrize("value", [123456789, {"pin": 123456789}, "pin 123456789", [{"a": [123456789]}]])
def test_a_secret_number_is_found_as_number_and_as_text(value: Any) -> None:
    assert Secrets([123456789]).has_secret_in(value)


@pytest.mark.parametrize("value", ["", "other", {"a": ["b", 5, None, True]}, SECRET[:-1], SECRET.upper()])
def test_without_a_secret_none_is_found(value: Any) -> None:
    assert not Secrets([SECRET]).has_secret_in(value)
    assert not Secrets().has_secret_in(value)


def test_a_secret_is_found_at_any_depth() -> None:
    value: Any = SECRET
    for _ in range(3_000):
        value = [value]
    assert Secrets([SECRET]).has_secret_in(value)


@given(st.data(), SECRETS, st.binary(max_size=50), st.integers(1, 40))
def test_a_file_is_scrubbed_of_a_secret_wherever_it_is_read_in_pieces(
    data: st.DataObject, secret: str, noise: bytes, size: int
) -> None:
    secrets = Secrets([secret, secret + "and-more"])
    spelt = data.draw(st.sampled_from([secret, quote(secret), json.dumps(secret), secret + "and-more"]))
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr("pflow.store.run_recorder._CHUNK", size)
        path = Path(folder) / "out"
        path.write_bytes(noise + b" " + spelt.encode() + b" " + noise)
        mask_file(path, secrets)
        left = path.read_bytes()
        assert os.listdir(folder) == ["out"]
    assert spelt.encode() not in left
    assert b"and-more" not in left
    assert left.startswith(noise) or secrets.has_secret_in(noise + b" ")


def test_a_file_without_secrets_is_left_alone_and_one_with_them_is_for_its_owner_only(tmp_path: Path) -> None:
    clean, report = tmp_path / "clean", tmp_path / "report"
    clean.write_bytes(b"\xff api_key=abc \xc3")
    report.write_bytes(b"\xff ab***cd abab***cdcd \xc3\r\n")
    before = clean.stat()
    for path in (clean, report):
        mask_file(path, Secrets(["ab***cd"]))
    assert (clean.stat().st_ino, clean.read_bytes()) == (before.st_ino, b"\xff api_key=abc \xc3")
    assert report.read_bytes() == b"\xff *** *** \xc3\r\n"
    assert report.stat().st_mode & 0o777 == 0o600


def test_nothing_is_left_of_a_file_that_could_not_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "out"
    path.write_text(SECRET)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="No space"):
        mask_file(path, Secrets([SECRET]))
    assert [one.name for one in tmp_path.iterdir()] == ["out"]


@given(SECRETS, st.text(max_size=10), st.text(max_size=10))
def test_a_secret_is_found_and_masked_as_text_and_as_json(secret: str, before: str, behind: str) -> None:
    secrets = Secrets([secret])
    for text in (before + secret + behind, json.dumps({"x": secret}), json.dumps([secret], ensure_ascii=False)):
        assert secrets.has_secret_in({"out": [text]})
        assert secret.strip() not in secrets.mask(text)
        assert json.dumps(secret.strip())[1:-1] not in secrets.mask(text)


def test_parameters_are_secrets_by_their_names_however_deep() -> None:
    params: Any = {
        "url": "https://x.example",
        "auth_token": "one",
        "headers": {"Authorization": "two", "Accept": "no", "x": [{"apiKey": "three"}, "no"]},
        "env": {"GITHUB_TOKEN": {"whole": "four"}},
        "api_key_header": "X-API-Key",
        "max_tokens": 5,
    }
    assert sorted(map(str, find_secret_param_values(params))) == sorted(["one", "two", "three", "{'whole': 'four'}"])
    assert find_secret_param_values({}) == []
