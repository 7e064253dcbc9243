"""Every error of an app has one body."""

import json
from typing import Any

import httpx
import pytest
from pydantic import SecretStr
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from uraniborg.kernel.errors import Conflict, InternalError, NotFound
from uraniborg.kernel.http.config import HttpConfig
from uraniborg.kernel.http.header_checks import NotAuthorized, make_error_response
from uraniborg.kernel.http.secure_app import add_error_handlers, secure_app


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


async def _reply_of_any_kind(request: Request) -> Response:
    given = request.headers.get("given")
    return Response("ok", headers={"Vary": given} if given else {})


def _secured() -> Any:
    app = Starlette(routes=[Route("/", _reply_of_any_kind, methods=["GET", "POST", "OPTIONS"])])
    config = HttpConfig(token=SecretStr("secret-token-of-a-test"))
    return secure_app(app, config, is_page=lambda _path: False, open_paths=())


TOKEN = {"Authorization": "Bearer secret-token-of-a-test"}
OWN_PAGE = {**TOKEN, "Origin": "http://localhost"}


async def _secured_response(headers: dict[str, str], method: str = "GET") -> httpx.Response:
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(_secured()), base_url="http://localhost", headers=headers
    ) as client:
        return await client.request(method, "/", content=b"x" if method == "POST" else None)


@pytest.mark.parametrize("given", [None, "Accept-Encoding"])
async def test_a_program_gets_the_headers_that_a_page_gets_except_those_for_its_origin(given: str | None) -> None:
    more = {"given": given} if given else {}
    program, page = await _secured_response({**TOKEN, **more}), await _secured_response({**OWN_PAGE, **more})
    assert (program.status_code, page.status_code) == (200, 200)
    for response in (program, page):
        assert {one.strip() for one in response.headers["vary"].split(",")} == {"Origin", *([given] if given else [])}
        assert len(response.headers.get_list("x-request-id")) == 1
    assert set(page.headers) - set(program.headers) == {"access-control-allow-origin", "access-control-expose-headers"}


@pytest.mark.parametrize(
    ("method", "headers", "status", "code"),
    [
        ("GET", {}, 401, "not_authorized"),
        ("GET", {**TOKEN, "Host": "evil.example"}, 421, "host_not_allowed"),
        ("GET", {**TOKEN, "Origin": "https://evil.example"}, 403, "origin_not_allowed"),
        ("GET", {**TOKEN, "Sec-Fetch-Site": "cross-site"}, 403, "cross_site_not_allowed"),
        ("POST", {**TOKEN, "Content-Type": "text/plain"}, 415, "unsupported_media_type"),
    ],
)
async def test_a_request_that_fails_a_check_is_refused_with_its_id(
    method: str, headers: dict[str, str], status: int, code: str
) -> None:
    refused = await _secured_response({**headers, "X-Request-Id": "the-id-of-this-request"}, method)
    assert (refused.status_code, refused.json()["error"]["code"]) == (status, code)
    assert refused.json()["error"]["request_id"] == refused.headers["x-request-id"] == "the-id-of-this-request"


async def test_a_repeated_header_of_a_program_is_refused() -> None:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(_secured()), base_url="http://localhost") as client:
        refused = await client.get("/", headers=[*TOKEN.items(), ("Host", "localhost"), ("Host", "localhost")])
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "repeated_header")
