import asyncio
import json
from typing import Any

import pytest

from tests.uraniborg.kernel.mcp.raw_messages import request, wire_to
from tests.uraniborg.kernel.mcp.sample_server import sample_server
from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.mcp import Listed, Server, make_server
from uraniborg.kernel.mcp.http_apps import Dispatcher

LIST = request("resources/list")
STATIC = ["sample://about"]


async def listed_in_session(server: Server) -> list[dict[str, Any]]:
    async with wire_to(server) as wire:
        return (await wire.ask(LIST))["result"]["resources"]


async def listed_alone(server: Server) -> list[dict[str, Any]]:
    _, body = await Dispatcher(server).answer(json.dumps(LIST).encode(), "2025-11-25")
    return json.loads(body)["result"]["resources"]


def uris(resources: list[dict[str, Any]]) -> list[str]:
    return [resource["uri"] for resource in resources]


@pytest.mark.parametrize("list_of", [listed_in_session, listed_alone])
async def test_resources_of_a_listing_follow_the_registered_ones(list_of: Any) -> None:
    server = sample_server()

    async def more() -> list[Listed]:
        return [Listed("sample://a/text", "a", "A", "The letter.", "text/markdown"), Listed("sample://b/text", "b")]

    server.register_listing(more)
    resources = await list_of(server)
    assert uris(resources) == [*STATIC, "sample://a/text", "sample://b/text"]
    assert resources[1] == {
        "uri": "sample://a/text",
        "name": "a",
        "title": "A",
        "description": "The letter.",
        "mimeType": "text/markdown",
    }
    assert resources[2] == {"uri": "sample://b/text", "name": "b", "mimeType": "text/plain"}


async def test_the_list_is_requested_again_each_time() -> None:
    server = sample_server()
    there: list[Listed] = []

    async def more() -> list[Listed]:
        return there

    dispatcher = Dispatcher(server)

    async def ask() -> list[str]:
        _, body = await dispatcher.answer(json.dumps(LIST).encode(), "2025-11-25")
        return uris(json.loads(body)["result"]["resources"])

    assert await ask() == STATIC
    server.register_listing(more)
    assert await ask() == STATIC
    there.append(Listed("sample://a/text", "a"))
    assert await ask() == [*STATIC, "sample://a/text"]
    there.clear()
    assert await ask() == STATIC


class Panic(BaseException):
    """An exception as extensions written in other languages raise it."""


@pytest.mark.parametrize("failure", [RuntimeError("out of order"), asyncio.CancelledError(), Panic(), SystemExit(1)])
async def test_one_list_that_fails_is_left_out_and_logged(
    failure: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    server = sample_server()

    async def broken() -> list[Listed]:
        raise failure

    async def more() -> list[Listed]:
        return [Listed("sample://a/text", "a")]

    server.register_listing(broken)
    server.register_listing(more)
    assert uris(await listed_in_session(server)) == [*STATIC, "sample://a/text"]
    assert "resources could not be listed" in caplog.text
    assert type(failure).__name__ in caplog.text


async def test_an_invalid_resource_of_a_listing_is_skipped_and_the_others_stay() -> None:
    server = sample_server()

    async def more() -> list[Listed]:
        return [
            Listed("no uri", "n"),
            Listed("sample://about", "taken"),
            Listed("sample://量/text", "a 量"),
            Listed("sample://%E9%87%8F/text", "the same again"),
        ]

    server.register_listing(more)
    resources = await listed_in_session(server)
    assert uris(resources) == [*STATIC, "sample://%E9%87%8F/text"]
    assert resources[0]["name"] == "about"
    assert resources[1]["name"] == "a 量"


async def test_a_list_alone_makes_a_server_one_with_resources() -> None:
    server = make_server("listing", version="1", instructions="")

    async def more() -> list[Listed]:
        return [Listed("sample://a/text", "a")]

    assert server.protocol.make_initialize_result("2025-11-25").capabilities.resources is None
    server.register_listing(more)
    assert server.protocol.make_initialize_result("2025-11-25").capabilities.resources is not None
    assert uris(await listed_alone(server)) == ["sample://a/text"]


def paged_server() -> Server:
    """Return a server with one registered resource and seven more in pages of three."""
    server = sample_server()

    async def pages(cursor: str | None) -> tuple[list[Listed], str | None]:
        if cursor not in (None, "3", "6"):
            raise InvalidInput("The cursor is unknown.", argument="cursor")
        start = int(cursor or 0)
        listed = [Listed(f"sample://{n}/text", str(n)) for n in range(start, min(start + 3, 7))]
        return listed, str(start + 3) if start + 3 < 7 else None

    server.register_paged_listing(pages)
    return server


async def asked_in_session(server: Server, params: dict[str, Any] | None) -> dict[str, Any]:
    async with wire_to(server) as wire:
        return await wire.ask(request("resources/list", params))


async def asked_alone(server: Server, params: dict[str, Any] | None) -> dict[str, Any]:
    body = json.dumps(request("resources/list", params)).encode()
    return json.loads((await Dispatcher(server).answer(body, "2025-11-25")).body)


@pytest.mark.parametrize("ask", [asked_in_session, asked_alone])
async def test_pages_follow_one_another_and_registered_resources_stand_on_the_first(ask: Any) -> None:
    server = paged_server()
    first = (await ask(server, None))["result"]
    assert uris(first["resources"]) == [*STATIC, *(f"sample://{n}/text" for n in range(3))]
    second = (await ask(server, {"cursor": first["nextCursor"]}))["result"]
    assert uris(second["resources"]) == [f"sample://{n}/text" for n in range(3, 6)]
    third = (await ask(server, {"cursor": second["nextCursor"]}))["result"]
    assert uris(third["resources"]) == ["sample://6/text"]
    assert "nextCursor" not in third


@pytest.mark.parametrize("ask", [asked_in_session, asked_alone])
async def test_an_unknown_cursor_is_a_protocol_error_about_parameters(ask: Any) -> None:
    error = (await ask(paged_server(), {"cursor": "nowhere"}))["error"]
    assert error["code"] == -32602
    assert error["data"]["error"]["argument"] == "cursor"


async def test_a_first_page_that_fails_leaves_the_registered_resources(caplog: pytest.LogCaptureFixture) -> None:
    server = sample_server()

    async def broken(_cursor: str | None) -> tuple[list[Listed], str | None]:
        raise RuntimeError("out of order")

    server.register_paged_listing(broken)
    assert (await asked_alone(server, None))["result"] == {"resources": await listed_in_session(sample_server())}
    assert "out of order" in caplog.text
    error = (await asked_alone(server, {"cursor": "3"}))["error"]
    assert error["code"] == -32603
    assert "out of order" not in json.dumps(error)


def test_a_server_has_one_paged_listing() -> None:
    async def pages(_cursor: str | None) -> tuple[list[Listed], str | None]:
        return [], None

    with pytest.raises(TypeError, match="already"):
        paged_server().register_paged_listing(pages)
