"""Addresses of resources: fixed ones, path segments and query parameters."""

import json
from typing import Annotated, Any

import pytest
from pydantic import AnyUrl, Field

from tests.uraniborg.kernel.mcp.raw_messages import request
from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.mcp import Server, make_server, resource
from uraniborg.kernel.mcp.http_apps import Dispatcher
from uraniborg.kernel.mcp.prompts_and_resources import UriTemplate
from uraniborg.kernel.mcp.testing import connect_client

PAGED = UriTemplate("sample://{key}/text{?offset,lang}")


@pytest.mark.parametrize(
    ("uri", "values"),
    [
        ("sample://k/text", {"key": "k"}),
        ("sample://k/text?offset=9", {"key": "k", "offset": "9"}),
        ("sample://k/text?lang=de&offset=9", {"key": "k", "offset": "9", "lang": "de"}),
        ("sample://a%2Fb%3Fc/text?lang=z%68", {"key": "a/b?c", "lang": "zh"}),
        ("sample://k/text?", {"key": "k"}),
        ("sample://k/text?offset=", {"key": "k", "offset": ""}),
        ("sample://k/other?offset=9", None),
        ("sample://k/text/more?offset=9", None),
        ("sample://?offset=9", None),
    ],
)
def test_values_come_from_path_and_query(uri: str, values: dict[str, str] | None) -> None:
    assert PAGED.match(uri) == values


@pytest.mark.parametrize(
    "query",
    ["key=other", "colour=blue", "offset=1&offset=2", "offset=1&colour=blue", "&".join("abcdefghijklmnopqrstuvwxyz")],
)
def test_a_query_that_the_template_does_not_have_is_refused(query: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        PAGED.match(f"sample://k/text?{query}")
    assert refused.value.ids["allowed"] == ["offset", "lang"]


def test_without_query_parameters_a_question_mark_is_part_of_the_segment() -> None:
    assert UriTemplate("sample://{key}/text/{name}").match("sample://k/text/a?b") == {"key": "k", "name": "a?b"}


def test_a_fixed_address_can_have_query_parameters() -> None:
    fixed = UriTemplate("sample://list{?offset}")
    assert fixed.names == {"offset"}
    assert fixed.match("sample://list?offset=1") == {"offset": "1"}
    assert fixed.match("sample://other") is None


def paged_server() -> Server:
    server = make_server("paged", version="1", instructions="")

    @resource(server, "sample://{key}/text{?offset}", title="Text")
    async def text(key: str, offset: Annotated[int, Field(ge=0)] = 0) -> str:
        """Return the key from an offset."""
        return key[offset:]

    return server


async def read_alone(uri: str) -> dict[str, Any]:
    body = json.dumps(request("resources/read", {"uri": uri})).encode()
    return json.loads((await Dispatcher(paged_server()).answer(body, "2025-11-25")).body)


async def test_a_client_reads_on_with_the_query_parameter_of_the_template() -> None:
    async with connect_client(paged_server()) as client:
        (listed,) = (await client.list_resource_templates()).resourceTemplates
        (content,) = (await client.read_resource(AnyUrl("sample://abcdef/text?offset=4"))).contents
    assert listed.uriTemplate == "sample://{key}/text{?offset}"
    assert getattr(content, "text", "") == "ef"
    assert (await read_alone("sample://abcdef/text?offset=4"))["result"]["contents"][0]["text"] == "ef"
    assert (await read_alone("sample://abcdef/text"))["result"]["contents"][0]["text"] == "abcdef"


@pytest.mark.parametrize("query", ["offset=-1", "offset=x", "offset=", "offset=1.5", "key=a", "offset=1&offset=2"])
async def test_a_bad_query_parameter_is_a_protocol_error_that_names_it(query: str) -> None:
    error = (await read_alone(f"sample://abcdef/text?{query}"))["error"]
    assert error["code"] == -32602
    assert error["data"]["error"]["code"] == "invalid_argument"


def test_a_function_must_take_exactly_the_parameters_of_the_template() -> None:
    async def without(key: str) -> str:
        """Take no offset."""
        return key

    with pytest.raises(TypeError, match="does not match"):
        resource(make_server("s", version="1", instructions=""), "sample://{key}/text{?offset}", title="T")(without)
