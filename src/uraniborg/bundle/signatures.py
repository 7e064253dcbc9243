"""Signatures: the holder of a key vouches for the bytes of all files of a bundle. Ed25519, by the extra `sign`."""

import hashlib
import json
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from uraniborg.bundle.inspection import Check
from uraniborg.bundle.pieces import BundleFile, make_json_file
from uraniborg.bundle.reader import Bundle, UnreadableBundle
from uraniborg.bundle.ro_crate_files import SIGNATURE
from uraniborg.kernel.errors import InvalidInput, MissingExtra, NotFound
from uraniborg.kernel.logging import make_printable
from uraniborg.kernel.settings import config_dir
from uraniborg.kernel.store.files import AlreadyExists, Unwritable, create_exclusive, display_path, make_private_folder

_FORMAT: Final = "uraniborg-signature/1"
_MOST_BYTES: Final = 10_000
"""Of the file of a signature."""
_SIGNATURE: Final = re.compile(r"[A-Za-z0-9_-]{86}")
_PREFIX: Final = "ed25519:"
_KEY: Final = re.compile(r"ed25519:[A-Za-z0-9_-]{43}")
_PURPOSE: Final = "Signing a bundle"
_CREATE: Final = "Create one: uraniborg key --create"


class KeyMissing(NotFound):
    """The person has no key."""

    code = "signing_key_not_found"


class InvalidKey(InvalidInput):
    code = "invalid_signing_key"


def find_key_file() -> Path:
    """Return the file of the private key, beside the settings, so that no backup has it."""
    return config_dir() / "signing-key.pem"


def create_key() -> str:
    """Create the key of the person in a private file, and return the public key.

    Raise AlreadyExists, Unwritable or MissingExtra.
    """
    keys, serialization = _import_keys()
    path, private = find_key_file(), keys.Ed25519PrivateKey.generate()
    content = private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    try:
        make_private_folder(path.parent)
        create_exclusive(path, content)
    except AlreadyExists:
        raise AlreadyExists(
            f"'{display_path(path)}' exists.", hint="Use this key: uraniborg key. Move the file away for another one."
        ) from None
    except OSError as exc:
        raise Unwritable(
            f"'{display_path(path)}' cannot be written: {exc.strerror}.", hint="Check the folder."
        ) from exc
    return _format_public_key(private.public_key())


def read_public_key() -> str:
    """Return the public key of the person. Raise KeyMissing, InvalidKey or MissingExtra."""
    return _format_public_key(_read_private_key().public_key())


def check_key(text: str) -> str:
    """Return a public key as `uraniborg key` prints it. Raise InvalidKey."""
    if not _KEY.fullmatch(text.strip()):
        hint = f"A key is {_PREFIX} and 43 characters, as `uraniborg key` prints it."
        raise InvalidKey(f"'{make_printable(text[:60])}' is not a public key.", hint=hint)
    return text.strip()


def sign_files(files: Sequence[BundleFile]) -> list[BundleFile]:
    """Return the files with the signature of the person. Raise KeyMissing, InvalidKey or MissingExtra."""
    private = _read_private_key()
    message = _make_message({one.path: hashlib.sha256(one.content).hexdigest() for one in files})
    value = {
        "format": _FORMAT,
        "key": _format_public_key(private.public_key()),
        "signature": _encode(private.sign(message)),
    }
    return [*files, make_json_file(SIGNATURE, "the signature of all other files", value)]


def check_signature(bundle: Bundle, signer: str | None) -> Check:
    """Return whether a bundle is signed, and by the key `signer`. Raise MissingExtra if that cannot be checked."""
    try:
        key = _find_signer(bundle)
    except MissingExtra as exc:
        if signer is not None:
            raise
        return Check(SIGNATURE, "not checked", f"{exc.message} {exc.hint}")
    except UnreadableBundle as exc:
        return Check(SIGNATURE, "differs", f"the signature is wrong: it {exc}")
    found = "not signed" if key is None else f"signed by {key}"
    if signer is not None:
        if key == signer:
            return Check(SIGNATURE, "matched", found)
        return Check(SIGNATURE, "differs", f"{found}, and not by {signer}")
    vouched = "nobody vouches for these files" if key is None else "--signer checks whether this is the key you expect"
    return Check(SIGNATURE, "not checked", f"{found}: {vouched}")


def _find_signer(bundle: Bundle) -> str | None:
    """Return the key that signed the files of a bundle, or None if none did. Raise Unreadable or MissingExtra."""
    if not bundle.has(SIGNATURE):
        return None
    found = bundle.read_object(SIGNATURE, most=_MOST_BYTES)
    key, signature = str(found.get("key")), str(found.get("signature"))
    if set(found) != {"format", "key", "signature"} or found["format"] != _FORMAT:
        raise UnreadableBundle(f"is not of the format {_FORMAT}")
    if not _KEY.fullmatch(key) or not _SIGNATURE.fullmatch(signature):
        raise UnreadableBundle("has no key and signature of Ed25519")
    message = _make_message({path: bundle.compute_digest(path) for path in bundle.paths if path != SIGNATURE})
    keys, _ = _import_keys()
    try:
        keys.Ed25519PublicKey.from_public_bytes(_decode(key.removeprefix(_PREFIX))).verify(_decode(signature), message)
    except Exception as exc:  # InvalidSignature of the optional package, and what a key of an unknown bundle raises
        raise UnreadableBundle(f"does not fit the files and the key ({type(exc).__name__})") from None
    return key


def _make_message(digests: Mapping[str, str]) -> bytes:
    """Return what is signed: the digests of all files by path, sorted."""
    return f"{_FORMAT}\n{json.dumps(dict(sorted(digests.items())), separators=(',', ':'))}".encode()


def _read_private_key() -> Any:
    keys, serialization = _import_keys()
    path = find_key_file()
    try:
        private = serialization.load_pem_private_key(path.read_bytes(), None)
    except FileNotFoundError:
        raise KeyMissing("You have no key to sign with.", hint=_CREATE) from None
    except (OSError, ValueError, TypeError) as exc:
        raise _make_key_error(path, type(exc).__name__) from None
    if not isinstance(private, keys.Ed25519PrivateKey):
        raise _make_key_error(path, "it is of another kind than Ed25519")
    return private


def _make_key_error(path: Path, reason: str) -> InvalidKey:
    return InvalidKey(f"'{display_path(path)}' is not a private key: {reason}.", hint=f"Move it away. {_CREATE}")


def _import_keys() -> tuple[Any, Any]:
    """Return the modules of the optional package. Raise MissingExtra."""
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise MissingExtra("sign", _PURPOSE) from None
    return ed25519, serialization


def _format_public_key(public: Any) -> str:
    return f"{_PREFIX}{_encode(public.public_bytes_raw())}"


def _encode(content: bytes) -> str:
    return urlsafe_b64encode(content).decode().rstrip("=")


def _decode(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))
