"""Every error of an app has one body."""

import json
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from uraniborg.kernel.errors import Conflict, InternalError, NotFound
from uraniborg.kernel.http_access import NotAuthorized, make_error_response
from uraniborg.kernel.http_app import add_error_handlers


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (NotFound("Gone.", hint="Look.", paper_id="x"), 404),
        (Conflict("Busy."), 409),
        (NotAuthorized("No."), 401),
        (InternalError("Oh."), 500),
    ],
)
def test_every_error_has_its_status_and_the_one_body(error: Any, status: int) -> None:
    response = make_error_response(error)
    assert response.status_code == status
    assert json.loads(bytes(response.body)) == error.body()
    assert response.headers["content-type"] == "application/json"
    assert ("www-authenticate" in response.headers) == isinstance(error, NotAuthorized)


def _app() -> Starlette:
    async def ours(_: Request) -> Response:
        raise NotFound("Gone.", hint="Look.", paper_id="x")

    async def foreign(_: Request) -> Response:
        raise ValueError("password=hunter2")

    async def teapot(_: Request) -> Response:
        raise HTTPException(418, "short and stout")

    app = Starlette(routes=[Route("/ours", ours), Route("/foreign", foreign), Route("/teapot", teapot)])
    add_error_handlers(app)
    return app


async def _got(method: str, path: str) -> httpx.Response:
    transport = httpx.ASGITransport(_app(), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        return await client.request(method, path)


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/ours", 404, "not_found"),
        ("GET", "/foreign", 500, "internal_error"),
        ("GET", "/nowhere", 404, "no_such_address"),
        ("POST", "/ours", 405, "method_not_allowed"),
        ("GET", "/teapot", 418, "http_error"),
    ],
)
async def test_everything_that_goes_wrong_is_answered_in_one_shape(
    method: str, path: str, status: int, code: str
) -> None:
    answer = await _got(method, path)
    assert answer.status_code == status
    assert answer.json().keys() == {"error"}
    assert answer.json()["error"]["code"] == code
    assert {"code", "message", "hint"} <= answer.json()["error"].keys()


async def test_the_answer_to_an_unexpected_error_discloses_no_details() -> None:
    assert "hunter2" not in (await _got("GET", "/foreign")).text


async def test_a_method_that_is_not_possible_is_answered_with_those_that_are() -> None:
    assert "GET" in (await _got("DELETE", "/ours")).headers["allow"]
