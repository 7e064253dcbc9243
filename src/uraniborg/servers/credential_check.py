"""Refuse requests without a credential at the servers that `uraniborg serve` runs."""

import asyncio
import hmac
from collections.abc import Collection
from typing import TYPE_CHECKING

from starlette.types import ASGIApp, Receive, Scope, Send

from uraniborg.console.sign_ins import SignIns
from uraniborg.kernel.actors import ACTOR, Actor, get_user_name
from uraniborg.kernel.errors import UraniborgError, as_error
from uraniborg.kernel.http.config import HttpConfig
from uraniborg.kernel.http.header_checks import NotAuthorized, RequestIds, make_error_response, read_bearer_token
from uraniborg.kernel.logging import get_logger
from uraniborg.servers.credentials import AgentCredentials

if TYPE_CHECKING:
    from uraniborg.servers.process import PartServer

_log = get_logger(__name__)


class CredentialMissing(NotAuthorized):
    def __init__(self) -> None:
        super().__init__(
            "This server needs a credential.",
            hint="Run `uraniborg connect CLIENT`, which writes the credential into the entries of a client, or send "
            "Authorization: Bearer TOKEN with the token that `uraniborg serve` prints. People read in the console.",
        )


class CredentialCheck:
    """Middleware that admits requests with the credential of an agent for this server, or with the owner's token.

    `own_token` is the token of the server's settings, if there is one. `open_paths` need nothing, nor do preflights.
    """

    def __init__(
        self,
        app: ASGIApp,
        server: str,
        credentials: AgentCredentials,
        sign_ins: SignIns,
        *,
        owner: str,
        own_token: str | None = None,
        open_paths: Collection[str] = (),
    ) -> None:
        self._app = app
        self._open = frozenset(open_paths)
        self._server = server
        self._credentials = credentials
        self._sign_ins = sign_ins
        self._owner = owner
        self._own_token = own_token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] != "OPTIONS" and scope["path"] not in self._open:
            try:
                scope[ACTOR] = await self._find_actor(read_bearer_token(dict(scope["headers"])))
            except OSError as error:
                _log.exception("the credentials cannot be read", exc=error)
                await _refuse(as_error(error), scope, receive, send)
                return
            if scope[ACTOR] is None:
                await _refuse(CredentialMissing(), scope, receive, send)
                return
        await self._app(scope, receive, send)

    async def _find_actor(self, given: str) -> Actor | None:
        """Return who sent this token, or None. A key of the console is for its own address only."""
        if not given:
            return None
        client = await asyncio.to_thread(self._credentials.find_client, given, self._server)
        if client is not None:
            return Actor(kind="agent", name=client, authenticated="credential")
        if self._own_token and hmac.compare_digest(given.encode(), self._own_token.encode()):
            return Actor(kind="agent", name="", authenticated="token")
        actor = await self._sign_ins.find_actor(given, self._owner)
        return None if actor is None or actor.is_person else actor


def require_credential(
    app: ASGIApp, part: "PartServer", sign_ins: SignIns, config: HttpConfig, *, open_paths: Collection[str] = ()
) -> ASGIApp:
    """Return the app of a part behind the check, unless its settings let everyone call it."""
    if config.insecure:
        return app
    return CredentialCheck(
        app,
        part.name,
        AgentCredentials(),
        sign_ins,
        owner=get_user_name(),
        own_token=config.get_plain_token(),
        open_paths=open_paths,
    )


async def _refuse(error: UraniborgError, scope: Scope, receive: Receive, send: Send) -> None:
    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        await make_error_response(error)(scope, receive, send)

    await RequestIds(answer)(scope, receive, send)
