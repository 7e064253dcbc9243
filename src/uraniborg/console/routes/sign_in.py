"""Routes that sign in and out, and tell the state of the server."""

import asyncio
from typing import Annotated, Final

from fastapi import Body, Depends, Request
from starlette.responses import Response

from uraniborg.console.access.sign_ins import MAX_NAME_CHARS, NewKey
from uraniborg.console.replies import ApiReply
from uraniborg.console.routes.dependencies import Sender, make_router
from uraniborg.console.services import Services
from uraniborg.kernel.clock import format_iso
from uraniborg.kernel.http_access import read_bearer_token
from uraniborg.kernel.version import version

OPEN_PATHS: Final = {"/api/health", "/api/sign-in"}
"""The addresses that need neither a key nor the token."""


class Health(ApiReply):
    """The state of the server."""

    status: str
    version: str


class PersonName(ApiReply):
    """The name of a person, as claimed."""

    name: str


class SignedIn(PersonName):
    """The key of a browser, which it sends as its bearer token. It is shown only once."""

    key: str
    valid_until: str
    """The time at which the key ends."""


class SignInState(ApiReply):
    """The name of the person whose key a browser has; None if nobody is signed in."""

    name: str | None
    is_renewal_due: bool
    """Whether the browser is to exchange its key for a new one."""


async def read_key(request: Request) -> str:
    """Return the key that the request carries, or an empty text."""
    return read_bearer_token(dict(request.headers.raw))


Key = Annotated[str, Depends(read_key)]
router = make_router("sign-in")


@router.get("/api/health", summary="Check that the server runs")
async def get_health() -> Health:
    return Health(status="ok", version=version())


@router.get("/api/sign-in", summary="Return the name of the person signed in")
async def get_sign_in(services: Services, key: Key) -> SignInState:
    """Return null as the name for a request without a valid key: unlike in `/api/me`, this is not an error."""
    found = await services.sign_ins.find_sign_in(key)
    return SignInState(
        name=found and found.name, is_renewal_due=found is not None and services.sign_ins.is_renewal_due(found)
    )


@router.post("/api/sign-in", summary="Exchange the token for a key")
async def sign_in(
    services: Services,
    token: Annotated[str, Body(max_length=200)],
    name: Annotated[str, Body(max_length=MAX_NAME_CHARS)],
) -> SignedIn:
    """Return a key, which a page sends as its bearer token. `name` is recorded with your decisions, as claimed."""
    return _describe_key(await asyncio.to_thread(services.sign_ins.sign_in, token, name))


@router.post("/api/sign-in/renew", summary="Exchange a key for a new one")
async def renew_key(services: Services, key: Key) -> SignedIn:
    """Return a new key for the same person. The old one ends a minute later."""
    return _describe_key(await asyncio.to_thread(services.sign_ins.renew, key))


@router.post("/api/sign-out", summary="Make the key invalid", status_code=204)
async def sign_out(services: Services, key: Key, actor: Sender) -> Response:
    await asyncio.to_thread(services.sign_ins.sign_out, key, actor)
    return Response(status_code=204)


@router.post("/api/sign-out-everywhere", summary="Make all keys invalid", status_code=204)
async def sign_out_everywhere(services: Services, actor: Sender) -> Response:
    """Sign out every browser. The token stays: `uraniborg serve --new-token` replaces it, too."""
    await asyncio.to_thread(services.sign_ins.sign_out_everywhere, actor)
    return Response(status_code=204)


@router.get("/api/me", summary="Return your name")
async def get_me(actor: Sender) -> PersonName:
    return PersonName(name=actor.name)


def _describe_key(new: NewKey) -> SignedIn:
    return SignedIn(name=new.sign_in.name, key=new.key, valid_until=format_iso(new.sign_in.until))
