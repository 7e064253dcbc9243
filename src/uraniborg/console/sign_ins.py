"""Exchange the owner's token for a key of the browser, and remember the keys.

`uraniborg serve` prints the token; where a person must decide, it also shows a code at its terminal, which works once.
A page exchanges both once for a key of its own, which it keeps in the storage of its origin and sends as bearer token:
pages of other ports can neither read it nor make a browser send it. Token and hashes of keys are in a private file, so
that a restarted server accepts them.
"""

import asyncio
import hashlib
import hmac
import secrets
import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple

from pydantic import BaseModel, Field

from uraniborg.kernel.actors import PROGRAM_KINDS, Actor
from uraniborg.kernel.clock import Clock, SystemClock, format_iso
from uraniborg.kernel.deciders import load_decider_settings
from uraniborg.kernel.errors import InvalidInput, Refused
from uraniborg.kernel.http.header_checks import NotAuthorized
from uraniborg.kernel.logging import get_logger, register_secret
from uraniborg.kernel.settings import secure_own_folder
from uraniborg.kernel.store.audit_log import record_change
from uraniborg.kernel.store.files import make_private_folder
from uraniborg.servers.shared_file import SharedFile

DOOR: Final = "console"
"""The name of this interface in decisions."""
MAX_NAME_CHARS: Final = 80
LIFETIME: Final = timedelta(days=30)
"""The time that a key is valid."""
_RENEWAL_AGE: Final = timedelta(days=1)
"""The age from which a page exchanges its key for a new one."""
_GRACE: Final = timedelta(minutes=1)
"""The time that an exchanged key stays valid, for the requests that are on their way."""
_MAX_SIGN_INS: Final = 100

_log = get_logger(__name__)


class SignInCodeRequired(Refused):
    code = "sign_in_code_required"

    def __init__(self) -> None:
        super().__init__(
            "The setting decisions.require_person is on: the token alone signs in no person.",
            hint="Open the address with a code that `uraniborg serve` shows in its terminal. Each code works once.",
        )


class SignIn(BaseModel):
    """A person who has signed in, by the name that they chose, and until when."""

    name: str
    at: datetime
    until: datetime


class NewKey(NamedTuple):
    """A key that was just made, which is stored nowhere, and its sign-in."""

    key: str
    sign_in: SignIn


class StoredSignIns(BaseModel):
    """The contents of the file: the token, and sign-ins by the hash of their key."""

    token: str = Field(default_factory=lambda: secrets.token_urlsafe(24))
    sign_ins: dict[str, SignIn] = Field(default_factory=dict[str, SignIn])


class SignIns:
    """The token of the owner and the people signed in, in a private file that servers share."""

    def __init__(self, path: Path | None = None, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._code = ""
        self._code_lock = threading.Lock()
        self.show_credential: Callable[[str], None] = lambda _: None
        """Shows the person at the terminal the token with a code that is in no file. May be called in any thread."""
        path = path or secure_own_folder("data") / "console" / "sign-ins.json"
        # Without a file all people are signed out, but the token of this server stays valid.
        self._file = SharedFile(path, lambda last: StoredSignIns(token=last.token) if last else StoredSignIns())
        make_private_folder(self.folder)
        with self._file.change():
            pass  # a new file gets the token
        register_secret(self.token)

    @property
    def folder(self) -> Path:
        """The private folder of the file."""
        return self._file.path.parent

    @property
    def token(self) -> str:
        """The token of the owner, with which a person signs in."""
        return self._file.last.token

    def sign_in(self, token: str, name: str) -> NewKey:
        """Return a new key; the log of changes states who signed in. Blocks.

        Where a person must decide, the token needs a code behind it, which a program with the token does not know:
        `TOKEN.CODE`. Raise NotAuthorized for a wrong token, SignInCodeRequired, InvalidInput for a name that cannot be
        displayed, or InvalidConfig.
        """
        token, _, code = token.partition(".")
        if not self.is_token(token):
            raise make_sign_in_error()
        name = " ".join(name.split())
        if name.endswith(tuple(f" ({kind})" for kind in PROGRAM_KINDS)):
            raise InvalidInput(
                f"'{name}' is a name for programs, and a person signs in.", hint="Choose another name.", argument="name"
            )
        if not name or len(name) > MAX_NAME_CHARS or not name.isprintable():
            raise InvalidInput(
                f"A name has 1 to {MAX_NAME_CHARS} printable characters.", hint="Choose another name.", argument="name"
            )
        if load_decider_settings().require_person:
            self._use_code(code)
        made = self._add_key(name)
        actor = Actor(kind="person", name=name, authenticated="sign_in")
        record_change("signed in", name, actor, until=format_iso(made.sign_in.until))
        return made

    def offer_code(self) -> None:
        """Make a new code, which replaces the last one, and show it with the token."""
        self._code = secrets.token_urlsafe(24)
        register_secret(self._code)
        self.show_credential(f"{self.token}.{self._code}")

    def _use_code(self, given: str) -> None:
        """Replace the code if it is the one given. Raise SignInCodeRequired."""
        with self._code_lock:
            is_right = bool(self._code) and hmac.compare_digest(given.encode(), self._code.encode())
            if is_right or not self._code:  # the setting may have been switched on since the start
                self.offer_code()
        if not is_right:
            raise SignInCodeRequired

    def renew(self, key: str) -> NewKey:
        """Return a new key for the person with this one, which ends. Blocks. Raise NotAuthorized."""
        self._file.read()
        sign_in = self._find_valid(key)
        if sign_in is None:
            raise make_sign_in_error()
        return self._add_key(sign_in.name, replaced=hash_key(key))

    def sign_out(self, key: str, actor: Actor | None = None) -> None:
        """Make the key invalid; the log of changes states who did. Blocks."""
        with self._file.change() as stored:
            ended = stored.sign_ins.pop(hash_key(key), None)
        if ended is not None:
            record_change("signed out", ended.name, actor)

    def sign_out_everywhere(self, actor: Actor | None = None) -> None:
        """Make all keys invalid; the log of changes states who did. Blocks."""
        with self._file.change() as stored:
            count = len(stored.sign_ins)
            stored.sign_ins.clear()
        record_change("signed out everywhere", "console", actor, keys=count)

    def replace_token(self, actor: Actor | None = None) -> None:
        """Make a new token, and all keys and the old token invalid; the log of changes states who did. Blocks."""
        with self._file.change() as stored:
            stored.sign_ins.clear()
            stored.token = StoredSignIns().token
        register_secret(self.token)
        record_change("token replaced", "console", actor)

    async def find_actor(self, given: str, owner: str) -> Actor | None:
        """Return who sent this token or key, or None. Another server may have made, ended or replaced them.

        Programs send the token. Raise OSError or Locked if the file is needed and cannot be read.
        """
        sign_in = await self.find_sign_in(given)
        if sign_in is not None:
            return Actor(kind="person", name=sign_in.name, authenticated="sign_in")
        return Actor(kind="software", name=owner, authenticated="token") if self.is_token(given) else None

    async def find_sign_in(self, key: str) -> SignIn | None:
        """Return the sign-in of a valid key, or None. Raise OSError or Locked as `find_actor`."""
        try:
            if key and self._file.has_changed():
                await asyncio.to_thread(self._file.read)
        except OSError:
            if self._find_valid(key) is None and not self.is_token(key):
                raise
        return self._find_valid(key)

    def is_renewal_due(self, sign_in: SignIn) -> bool:
        """Return True if the browser should exchange its key."""
        return self._clock.now() >= sign_in.at + _RENEWAL_AGE

    def is_token(self, token: str) -> bool:
        """Return True if `token` is the token of the owner."""
        return hmac.compare_digest(token.encode(), self.token.encode())

    def _find_valid(self, key: str) -> SignIn | None:
        found = self._file.last.sign_ins.get(hash_key(key))
        return found if found and self._clock.now() < found.until else None

    def _add_key(self, name: str, *, replaced: str = "") -> NewKey:
        now, key = self._clock.now(), secrets.token_urlsafe(24)
        register_secret(key)
        sign_in = SignIn(name=name, at=now, until=now + LIFETIME)
        with self._file.change() as stored:
            if old := stored.sign_ins.get(replaced):
                stored.sign_ins[replaced] = old.model_copy(update={"until": min(old.until, now + _GRACE)})
            stored.sign_ins[hash_key(key)] = sign_in
            valid = [one for one, found in stored.sign_ins.items() if now < found.until]
            stored.sign_ins = {one: stored.sign_ins[one] for one in valid[-_MAX_SIGN_INS:]}
        return NewKey(key, sign_in)


def hash_key(key: str) -> str:
    """Return the hash under which a key is stored."""
    return hashlib.sha256(key.encode()).hexdigest()


def make_sign_in_error() -> NotAuthorized:
    """Return the error of a request without a valid key or token."""
    return NotAuthorized(
        "You are not signed in.", hint="Send Authorization: Bearer TOKEN, with the token that `uraniborg serve` prints."
    )
