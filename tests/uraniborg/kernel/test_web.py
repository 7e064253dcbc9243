"""What every HTTP surface shares: where a server may listen, and how errors look."""

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
from uraniborg.kernel.http_access import NotAuthorized, error_response
from uraniborg.kernel.http_app import add_error_handlers
from uraniborg.kernel.serving import InsecureBind, check_bind, print_status

TOKEN = "s3cret-of-the-tests"


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
def test_this_machine_alone_needs_no_token(host: str) -> None:
    check_bind(host, None, insecure=False)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "192.168.1.5", "example.org", "localhost.evil.example", "[::]"])
def test_where_others_can_reach_it_a_server_needs_a_token_or_a_word(host: str) -> None:
    with pytest.raises(InsecureBind) as caught:
        check_bind(host, None, insecure=False)
    assert "--token" in caught.value.hint
    assert "--insecure" in caught.value.hint
    check_bind(host, TOKEN, insecure=False)
    check_bind(host, None, insecure=True)


def test_an_empty_token_does_not_open_a_server_to_others() -> None:
    with pytest.raises(InsecureBind):
        check_bind("0.0.0.0", "", insecure=False)


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
    response = error_response(error)
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


async def test_what_was_not_ours_says_nothing_of_the_inside() -> None:
    assert "hunter2" not in (await _got("GET", "/foreign")).text


async def test_a_method_that_is_not_possible_is_answered_with_those_that_are() -> None:
    assert "GET" in (await _got("DELETE", "/ours")).headers["allow"]


def test_what_is_said_goes_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    print_status("Listening.")
    assert capsys.readouterr() == ("", "Listening.\n")
