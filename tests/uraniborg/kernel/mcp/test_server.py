import asyncio
import logging
import re
from typing import Annotated, Any, NotRequired

import pytest
from pydantic import AnyUrl, Field
from typing_extensions import TypedDict

from tests.uraniborg.kernel.mcp.sample_server import sample_server
from uraniborg.kernel.errors import Conflict, InvalidInput
from uraniborg.kernel.mcp import EncodedReply, ErrorReply, make_server, resource, tool
from uraniborg.kernel.mcp.testing import McpError, connect_client, get_json, get_text


async def answer(tool_name: str, **arguments: Any) -> Any:
    async with connect_client(sample_server()) as client:
        return await client.call_tool(tool_name, arguments)


async def error_of(tool_name: str, **arguments: Any) -> dict[str, Any]:
    result = await answer(tool_name, **arguments)
    assert result.isError
    assert result.structuredContent is None
    assert get_json(result).keys() == {"error"}
    return get_json(result)["error"]


async def resource_at(uri: str) -> Any:
    async with connect_client(sample_server()) as client:
        (content,) = (await client.read_resource(AnyUrl(uri))).contents
        return content


async def read_error(uri: str) -> Any:
    async with connect_client(sample_server()) as client:
        with pytest.raises(McpError) as caught:
            await client.read_resource(AnyUrl(uri))
    error: Any = caught.value.error
    assert error.data.keys() == {"error"}
    assert error.message == f"{error.data['error']['message']}\n{error.data['error']['hint']}".rstrip("\n")
    return error


async def test_the_server_introduces_itself_with_its_own_name_and_version() -> None:
    async with connect_client(sample_server()) as client:
        first = await client.initialize()
    assert (first.serverInfo.name, first.serverInfo.version) == ("sample", "7.8.9")
    assert first.instructions == "A server for tests."


async def test_only_available_features_are_advertised() -> None:
    async with connect_client(sample_server()) as client:
        offered = (await client.initialize()).capabilities.model_dump(exclude_none=True)
        assert offered.keys() == {"tools", "resources"}
        with pytest.raises(McpError) as caught:
            await client.list_prompts()
    assert caught.value.error.code == -32601


async def test_a_server_without_tools_or_resources_advertises_neither() -> None:
    async with connect_client(make_server("bare", version="1", instructions="")) as client:
        assert (await client.initialize()).capabilities.model_dump(exclude_none=True) == {}


async def test_a_tool_is_listed_with_title_description_schema_and_hints() -> None:
    async with connect_client(sample_server()) as client:
        tools = {listed.name: listed for listed in (await client.list_tools()).tools}
    echo, note = tools["echo"], tools["note"]
    assert echo.title == "Echo"
    assert echo.description == "Return the text.\n\nRepeat it as often as requested."
    assert echo.inputSchema["required"] == ["text"]
    assert echo.inputSchema["additionalProperties"] is False
    assert echo.outputSchema is None
    assert echo.annotations is not None
    assert echo.annotations.model_dump() == {
        "title": "Echo",
        "readOnlyHint": True,
        "destructiveHint": False,
        "idempotentHint": True,
        "openWorldHint": False,
    }
    assert note.annotations is not None
    assert (note.annotations.readOnlyHint, note.annotations.destructiveHint) == (False, True)


class Counted(TypedDict):
    value: str
    title: NotRequired[str]
    papers: Annotated[int, Field(ge=0, description="How many papers have the value.")]
    note: NotRequired[str]


async def test_a_tool_publishes_the_schema_of_its_structured_content_and_fails_as_any_other() -> None:
    server = make_server("counting", version="1", instructions="")

    @tool(server, title="Count", read_only=True)
    async def count(value: str) -> Counted:
        """Count."""
        if not value:
            raise Conflict("Nothing to count.")
        return {"value": value, "papers": 3}

    async with connect_client(server) as client:  # which checks structured content against the schema
        (listed,) = (await client.list_tools()).tools
        result = await client.call_tool("count", {"value": "x"})
        failed = await client.call_tool("count", {"value": ""})
    assert listed.outputSchema is not None
    assert listed.outputSchema["required"] == ["value", "papers"]
    assert listed.outputSchema["properties"]["papers"]["minimum"] == 0
    assert result.structuredContent == {"value": "x", "papers": 3}
    assert failed.isError
    assert failed.structuredContent is None


async def test_the_schema_is_that_of_the_declared_reply_and_lists_are_wrapped() -> None:
    server = make_server("declaring", version="1", instructions="")

    @tool(server, title="Numbers", read_only=True)
    async def list_numbers() -> list[int]:
        """List."""
        return [1]

    @tool(server, title="Try", read_only=True)
    async def try_count(value: str) -> Counted | ErrorReply:
        """Try."""
        return ErrorReply({"value": value}) if not value else {"value": value, "papers": 3}

    @tool(server, title="Stored", read_only=True)
    async def read_count() -> Counted | EncodedReply:
        """Read."""
        return EncodedReply(b'{"value":"x","papers":3}')

    @tool(server, title="Text only", read_only=True, structured=False)
    async def count_in_text() -> Counted:
        """Count."""
        return {"value": "x", "papers": 3}

    async with connect_client(server) as client:  # which checks structured content against the schema
        schemas = {one.name: one.outputSchema for one in (await client.list_tools()).tools}
        numbers = await client.call_tool("list_numbers", {})
        refused = await client.call_tool("try_count", {"value": ""})
        stored = await client.call_tool("read_count", {})
    assert schemas["list_numbers"] is not None
    assert schemas["list_numbers"]["properties"]["result"]["items"] == {"type": "integer"}
    assert schemas["try_count"] is not None
    assert list(schemas["try_count"]["properties"]) == ["value", "title", "papers", "note"]
    assert schemas["try_count"]["properties"]["title"] == {"type": "string"}, "no title repeats the name of a field"
    assert "title" not in schemas["try_count"]
    assert schemas["read_count"] == schemas["try_count"]
    assert (stored.structuredContent, get_text(stored)) == ({"value": "x", "papers": 3}, '{"value":"x","papers":3}')
    assert schemas["count_in_text"] is None
    assert numbers.structuredContent == {"result": [1]}
    assert refused.isError


async def test_a_dict_is_answered_as_json_text_and_as_structured_content() -> None:
    result = await answer("echo", text="Ж", times=2)
    assert get_text(result) == '{"text":"ЖЖ","nothing":null}'
    assert result.structuredContent == {"text": "ЖЖ", "nothing": None}
    assert not result.isError


async def test_a_list_is_bare_in_the_text_and_wrapped_in_structured_content() -> None:
    result = await answer("numbers", count=3)
    assert get_text(result) == "[0,1,2]"
    assert result.structuredContent == {"result": [0, 1, 2]}


async def test_a_model_is_answered_whole() -> None:
    result = await answer("note", note={"text": "hi"})
    assert get_json(result) == result.structuredContent == {"text": "hi", "by": None}


async def test_a_string_is_answered_untouched_even_when_it_looks_like_an_error() -> None:
    document = '{"error": {"code": "not_found"}}\n'
    result = await answer("say", text=document)
    assert get_text(result) == document
    assert not result.isError
    assert result.structuredContent is None


async def test_a_large_answer_is_sent_once_when_structure_is_off() -> None:
    result = await answer("large", size=1_000_000)
    assert len(get_json(result)["text"]) == 1_000_000
    assert result.structuredContent is None


async def test_an_error_of_the_family_is_an_error_result_with_its_ids() -> None:
    error = await error_of("lose", paper_id="p1")
    assert re.fullmatch("[0-9a-f]{32}", error.pop("request_id"))
    assert error == {
        "code": "not_found",
        "message": "There is no paper p1.",
        "hint": "Search first.",
        "paper_id": "p1",
    }


@pytest.mark.parametrize("how", ["error", "exit", "answer"])
async def test_a_breakdown_is_an_internal_error_that_discloses_nothing_and_the_server_continues(
    how: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with connect_client(sample_server()) as client:
        broken = await client.call_tool("break_down", {"how": how})
        after = await client.call_tool("say", {"text": "still here"})
    assert broken.isError
    assert get_json(broken)["error"]["code"] == "internal_error"
    assert "sk-secret" not in get_text(broken)
    assert "tool break_down" in caplog.text
    assert get_text(after) == "still here"


async def test_an_unknown_tool_is_an_error_that_names_the_tools_there_are() -> None:
    error = await error_of("explode")
    assert error["code"] == "unknown_tool"
    assert "echo" in error["allowed"]


async def test_an_unknown_argument_is_refused_and_nothing_runs() -> None:
    error = await error_of("echo", text="x", tims=2)
    assert error["code"] == "invalid_argument"
    assert error["allowed"] == ["text", "times", "style"]


async def test_a_refused_argument_is_named_and_its_value_kept_quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, logger="uraniborg")
    error = await error_of("echo", text=["sk-secret"], times="sk-secret")
    assert [problem["path"] for problem in error["problems"]] == ["text", "times"]
    assert "sk-secret" not in str(error)
    assert "sk-secret" not in caplog.text


async def test_calls_run_side_by_side() -> None:
    server = make_server("meeting", version="1", instructions="")
    barrier = asyncio.Barrier(20)

    @tool(server, title="Meet", read_only=True)
    async def meet(number: int) -> int:
        """Wait until all are here."""
        await barrier.wait()
        return number

    async with connect_client(server) as client, asyncio.timeout(20):
        results = await asyncio.gather(*(client.call_tool("meet", {"number": n}) for n in range(20)))
    assert [get_json(result) for result in results] == list(range(20))


async def test_the_decorated_function_stays_a_plain_function() -> None:
    server = make_server("plain", version="1", instructions="")

    @tool(server, title="Refuse", read_only=True)
    async def refuse(word: str) -> str:
        """Refuses."""
        raise Conflict(word)

    with pytest.raises(Conflict, match="no"):
        await refuse("no")


async def test_a_tool_can_be_called_without_a_client_and_never_raises() -> None:
    server = sample_server()
    assert get_json(await server.call_tool("echo", {"text": "a"})) == {"text": "a", "nothing": None}
    assert (await server.call_tool("lose", {"paper_id": "p"})).isError


async def test_an_invalid_tool_is_refused_when_it_is_registered() -> None:
    server = make_server("strict", version="1", instructions="")

    def blocking() -> str:
        """Would block."""
        return ""

    async def silent() -> str:
        return ""

    async def described() -> str:
        """Says something."""
        return ""

    register: Any = tool(server, title="T", read_only=True)
    with pytest.raises(TypeError, match="async"):
        register(blocking)
    with pytest.raises(TypeError, match="docstring"):
        register(silent)
    register(described)
    with pytest.raises(TypeError, match="already"):
        register(described)


async def test_an_invalid_resource_is_refused_when_it_is_registered() -> None:
    server = make_server("strict", version="1", instructions="")

    async def other(paper: str) -> str:
        """Take an argument that the address does not have."""
        return paper

    with pytest.raises(TypeError, match="does not match"):
        resource(server, "sample://{key}/x", title="X")(other)


async def test_resources_and_templates_are_listed() -> None:
    async with connect_client(sample_server()) as client:
        (about,) = (await client.list_resources()).resources
        templates = {
            listed.uriTemplate: listed for listed in (await client.list_resource_templates()).resourceTemplates
        }
    assert (str(about.uri), about.title, about.description) == ("sample://about", "About", "Describe this server.")
    assert templates["sample://{key}/facts"].mimeType == "application/json"
    assert templates["sample://{key}/facts"].title == "Facts"


async def test_a_text_resource_is_the_text_itself() -> None:
    content = await resource_at("sample://about")
    assert (content.text, content.mimeType) == ("A sample.", "text/plain")


async def test_a_structured_resource_is_compact_json() -> None:
    content = await resource_at("sample://abc/facts")
    assert (content.text, content.mimeType) == ('{"key":"abc","length":3,"nothing":null}', "application/json")


async def test_a_binary_resource_is_a_blob() -> None:
    content = await resource_at("sample://abc/bytes")
    assert (content.blob, content.mimeType) == ("YWJj", "application/octet-stream")


@pytest.mark.parametrize(
    ("written", "meant"),
    [("10.1000%2Fa.b", "10.1000/a.b"), ("Ü%20量", "Ü 量"), ("arXiv%3A2101.1", "arXiv:2101.1"), ("CaSe", "CaSe")],
)
async def test_values_in_an_address_arrive_decoded(written: str, meant: str) -> None:
    assert (await resource_at(f"sample://{written}/text")).text == meant


@pytest.mark.parametrize("uri", ["sample://abc/text/more", "sample://abc", "other://abc/text", "sample://about/x/y/z"])
async def test_a_missing_resource_has_its_own_code_and_names_the_existing_ones(uri: str) -> None:
    error = await read_error(uri)
    assert error.code == -32002
    assert error.data["error"]["code"] == "resource_not_found"
    assert "sample://{key}/text" in error.data["error"]["allowed"]


async def test_the_dot_in_an_address_is_a_dot() -> None:
    server = make_server("dots", version="1", instructions="")

    @resource(server, "sample://{key}/a.txt", title="A")
    async def a(key: str) -> str:
        """Return a file."""
        return key

    async with connect_client(server) as client:
        await client.read_resource(AnyUrl("sample://k/a.txt"))
        with pytest.raises(McpError):
            await client.read_resource(AnyUrl("sample://k/a-txt"))


@pytest.mark.parametrize(("how", "code"), [("missing", -32002), ("conflict", -32603), ("typo", -32602)])
async def test_a_failing_resource_is_a_protocol_error_with_the_error_body(how: str, code: int) -> None:
    assert (await read_error(f"sample://k/fail/{how}")).code == code


async def test_a_broken_resource_discloses_nothing(caplog: pytest.LogCaptureFixture) -> None:
    error = await read_error("sample://k/fail/error")
    assert error.code == -32603
    assert "sk-secret" not in str(error)
    assert "sk-secret" in caplog.text


def test_making_a_server_leaves_the_logging_of_the_process_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    root = logging.getLogger()
    monkeypatch.setattr(root, "handlers", [])
    level = root.level
    make_server("quiet", version="1", instructions="")
    assert (root.handlers, root.level) == ([], level)
    assert logging.getLogger("mcp").getEffectiveLevel() >= logging.WARNING


def test_a_server_runs_by_itself_over_stdio_only() -> None:
    with pytest.raises(InvalidInput, match="streamable-http"):
        sample_server().run(transport="streamable-http")


async def test_a_tool_or_resource_that_the_server_does_not_have_gets_its_hint() -> None:
    server = make_server("hints", version="1", instructions="", hints={"undo": "Undo is on the command line."})

    @tool(server, title="Do", read_only=True)
    async def do() -> str:  # pyright: ignore[reportUnusedFunction]
        """Do it."""
        return "done"

    async with connect_client(server) as client:
        wrong = get_json(await client.call_tool("undo_last", {}))
        other = get_json(await client.call_tool("redo", {}))
    assert wrong["error"]["hint"] == "Undo is on the command line. Use one of: do."
    assert other["error"]["hint"] == "Use one of: do."
