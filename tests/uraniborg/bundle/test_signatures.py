"""Signatures: who held the key vouches for these bytes; another key, other bytes and no signature are differences."""

import json
import shutil
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from tests.uraniborg.bundle.forging import edit_json, reseal
from uraniborg.bundle.command import EXIT_CODES, choose_and_export, find_outcome, verify_and_print
from uraniborg.bundle.inspection import Result
from uraniborg.bundle.pieces import BundleFile, make_text_file
from uraniborg.bundle.ro_crate_files import add_frame, make_methods_file
from uraniborg.bundle.signatures import (
    InvalidKey,
    KeyMissing,
    check_key,
    create_key,
    find_key_file,
    read_public_key,
    sign_files,
)
from uraniborg.bundle.writer import write_bundle
from uraniborg.kernel.errors import MissingExtra
from uraniborg.kernel.progress_callbacks import ReportItem
from uraniborg.kernel.store.files import AlreadyExists

SIGNATURE: Final = "signature.json"
OTHER: Final = f"ed25519:{'A' * 43}"
OTHER_KIND: Final = (
    ec.generate_private_key(ec.SECP256R1()).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("URANIBORG_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def make_files() -> list[BundleFile]:
    files = [make_methods_file("A file.", []), make_text_file("a.txt", "a file", "a")]
    return add_frame(files, title="A file.", date="2026-01-31")


@pytest.fixture
def signed(tmp_path: Path) -> Path:
    """Return a bundle that was signed with a new key."""
    create_key()
    write_bundle(tmp_path / "bundle", sign_files(make_files()))
    return tmp_path / "bundle"


def verify(bundle: Path, capsys: pytest.CaptureFixture[str], signer: str | None = None) -> tuple[int, str, str]:
    """Return the exit code, and the result and detail of the signature."""
    capsys.readouterr()
    code = verify_and_print(bundle, repeat=True, signer=signer, more=(), as_json=True, quiet=True)
    reply: dict[str, Any] = json.loads(capsys.readouterr().out)
    (found,) = [check for check in reply["checks"] if check["item"] == SIGNATURE]
    assert (reply["exit_code"], reply["ok"]) == (code, code == 0)
    return code, found["result"], found["detail"]


def test_a_key_is_created_once_in_a_private_file_and_its_public_part_is_short(home: Path) -> None:
    with pytest.raises(KeyMissing, match="no key to sign with"):
        read_public_key()
    key = create_key()
    assert key == read_public_key() == check_key(f" {key}\n")
    assert len(key) == 51
    assert stat.S_IMODE(find_key_file().stat().st_mode) == 0o600
    assert stat.S_IMODE(find_key_file().parent.stat().st_mode) == 0o700
    assert find_key_file().is_relative_to(home)
    with pytest.raises(AlreadyExists):
        create_key()
    assert read_public_key() == key
    find_key_file().write_text("no key")
    with pytest.raises(InvalidKey, match="is not a private key"):
        read_public_key()
    find_key_file().write_text(OTHER_KIND)
    with pytest.raises(InvalidKey, match="is not a private key"):
        read_public_key()
    for text in ("", key[:-1], key.replace("ed25519", "rsa"), f"{key}x"):
        with pytest.raises(InvalidKey, match="is not a public key"):
            check_key(text)


def test_a_signed_bundle_names_its_key_and_matches_it(signed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    key = read_public_key()
    assert verify(signed, capsys, key) == (6, "matched", f"signed by {key}")
    code, result, detail = verify(signed, capsys)
    assert (code, result) == (6, "not checked")
    assert detail.startswith(f"signed by {key}: --signer checks")


def test_another_key_and_no_signature_are_differences_if_a_key_is_required(
    signed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key = read_public_key()
    assert verify(signed, capsys, OTHER) == (1, "differs", f"signed by {key}, and not by {OTHER}")
    (signed / SIGNATURE).unlink()
    assert verify(signed, capsys, key) == (1, "differs", f"not signed, and not by {key}")
    code, result, detail = verify(signed, capsys)
    assert (code, result, detail) == (6, "not checked", "not signed: nobody vouches for these files")


def test_bytes_that_were_changed_after_the_signature_are_a_difference_whatever_their_digests_say(
    signed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key = read_public_key()
    (signed / "a.txt").write_text("b")
    reseal(signed)
    for signer in (None, key):
        code, result, detail = verify(signed, capsys, signer)
        assert (code, result) == (1, "differs")
        assert detail == "the signature is wrong: it does not fit the files and the key (InvalidSignature)"


@pytest.mark.parametrize(
    "change",
    [
        {"key": OTHER},
        {"key": 3},
        {"signature": ""},
        {"signature": "A" * 86},
        {"format": "uraniborg-signature/2"},
        {"signed_at": "2020-01-01"},
    ],
)
def test_a_signature_that_is_not_one_of_these_files_is_a_difference(
    signed: Path, change: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    edit_json(signed, SIGNATURE, lambda signature: signature.update(change))
    code, result, detail = verify(signed, capsys)
    assert (code, result, "the signature is wrong" in detail) == (1, "differs", True)


def test_a_file_that_was_added_renamed_or_deleted_breaks_the_signature(
    signed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changes: list[Callable[[Path], object]] = [
        lambda folder: (folder / "b.txt").write_text("b"),
        lambda folder: (folder / "a.txt").rename(folder / "b.txt"),
        lambda folder: (folder / "a.txt").unlink(),
    ]
    for number, change in enumerate(changes):
        copy = shutil.copytree(signed, tmp_path / f"copy{number}")
        change(copy)
        assert verify(copy, capsys)[:2] == (1, "differs")


def test_without_the_extra_the_remedy_is_named(
    signed: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    key = read_public_key()
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.asymmetric", None)
    for use in (create_key, lambda: sign_files(make_files()), lambda: verify(signed, capsys, key)):
        with pytest.raises(MissingExtra) as refused:
            use()
        assert "pip install 'uraniborg[sign]'" in refused.value.hint
    code, result, detail = verify(signed, capsys)
    assert (code, result, "uraniborg[sign]" in detail) == (6, "not checked", True)


def test_an_export_is_signed_if_asked_and_refused_before_the_work_without_a_key(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "bundle.zip"
    worked: list[str] = []

    async def read_files(_report: ReportItem) -> list[BundleFile]:
        worked.append("worked")
        return make_files()

    def export() -> None:
        choose_and_export(target, {}, read_files, title=None, replace=True, sign=True, as_json=True, quiet=True)

    with pytest.raises(KeyMissing):
        export()
    assert (worked, target.exists()) == ([], False)
    key = create_key()
    export()
    assert SIGNATURE in [one["path"] for one in json.loads(capsys.readouterr().out)["files"]]
    assert verify(target, capsys, key)[1] == "matched"


def test_the_exit_code_tells_all_matched_some_not_checked_and_differs_apart(
    signed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    counts: list[dict[Result, int]] = [
        {"matched": 3},
        {"matched": 3, "not repeated": 1},
        {"matched": 3, "not checked": 1},
        {"differs": 1, "matched": 3, "not repeated": 1, "not checked": 1},
    ]
    assert [find_outcome(one) for one in counts] == ["all matched", "some not checked", "some not checked", "differs"]
    assert EXIT_CODES == {"all matched": 0, "some not checked": 6, "differs": 1}
    code = verify_and_print(signed, repeat=False, signer=None, more=(), as_json=False, quiet=True)
    printed = " ".join(capsys.readouterr().out.split())
    assert code == 6
    assert printed.endswith("Nothing differs. What was not repeated or not checked is as good as its source.")
    (signed / "a.txt").write_text("b")
    code = verify_and_print(signed, repeat=True, signer=None, more=(), as_json=False, quiet=True)
    assert code == 1
    assert capsys.readouterr().out.strip().endswith("It differs: do not rely on this bundle.")
