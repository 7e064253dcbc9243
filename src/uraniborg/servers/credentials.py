"""Store the credentials of agents: a token for each client and server, which `uraniborg serve` asks for.

A token is the name of the client and a signature of client and server, so that a server which gets one can use it at no
other server. The secret that signs is in a private file, with the clients whose tokens were made invalid.
"""

import hmac
import re
import secrets
from base64 import urlsafe_b64encode
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

from pydantic import BaseModel, Field

from uraniborg.kernel.actors import Actor
from uraniborg.kernel.logging import register_secret
from uraniborg.kernel.settings import secure_own_folder
from uraniborg.kernel.store.audit_log import record_change
from uraniborg.kernel.store.files import Locked, make_private_folder
from uraniborg.servers.shared_file import SharedFile

OTHER_CLIENT: Final = "other"
"""The client of entries that are printed for no client in particular."""
BRIDGE: Final = "bridge"
"""The client of `uraniborg bridge`."""
_CLIENT: Final = re.compile(r"[a-z][a-z-]{0,39}")


class StoredSecret(BaseModel):
    """The contents of the file. Each time the tokens of a client are made invalid, its number grows."""

    secret: str = Field(default_factory=lambda: secrets.token_urlsafe(32))
    numbers: dict[str, int] = Field(default_factory=dict[str, int])
    issued: dict[str, list[str]] = Field(default_factory=dict[str, list[str]])
    """The servers that each client has a valid token for, since a version that stores them."""


class AgentCredentials:
    """The tokens of agents, and the file of their secret, which servers and commands share."""

    def __init__(self, path: Path | None = None) -> None:
        path = path or secure_own_folder("data") / "console" / "agents.json"
        self._file = SharedFile(path, lambda last: last or StoredSecret())

    def make_token(self, client: str, server: str, actor: Actor | None = None) -> str:
        """Return the token of a client for a server; the same one each time. The log of changes states the first time.

        Blocks. Raise OSError or Locked if the file of the secret cannot be read or created.
        """
        token = self._sign(client, server)
        if server not in self._file.last.issued.get(client, []):
            with suppress(OSError, Locked):  # a read-only folder: the token is valid nevertheless
                with self._file.change() as stored:
                    known = stored.issued.setdefault(client, [])
                    is_first = server not in known
                    stored.issued[client] = [*known, server] if is_first else known
                if is_first:
                    record_change("credential issued", client, actor, server=server)
        return token

    def _sign(self, client: str, server: str) -> str:
        self._read_or_create()
        signed = f"{client}\0{server}\0{self._file.last.numbers.get(client, 0)}"
        signature = hmac.digest(self._file.last.secret.encode(), signed.encode(), sha256)
        return f"{client}.{urlsafe_b64encode(signature).decode().rstrip('=')}"

    def find_client(self, token: str, server: str) -> str | None:
        """Return the client that has this token for this server, or None. Blocks. Raise as `make_token`."""
        client = token.partition(".")[0]
        if not _CLIENT.fullmatch(client) or not self._file.path.exists():
            return None
        expected = self._sign(client, server)
        return client if hmac.compare_digest(token.encode(), expected.encode()) else None

    def revoke(self, client: str, actor: Actor | None = None) -> None:
        """Make all tokens of a client invalid; the log of changes states who did. Blocks."""
        with self._file.change() as stored:
            stored.numbers[client] = stored.numbers.get(client, 0) + 1
            stored.issued.pop(client, None)
        record_change("credentials revoked", client, actor)

    def _read_or_create(self) -> None:
        if not self._file.has_changed():
            return
        if not self._file.path.exists():
            make_private_folder(self._file.path.parent)
            with self._file.change():
                pass  # the file gets its secret, unless another process was first
        register_secret(self._file.read().secret)
