from typing import Annotated, Any

import pytest
from mcp.types import PromptReference, ResourceTemplateReference, TextContent
from pydantic import Field

from uraniborg.kernel.mcp import Server, make_server, prompt, resource
from uraniborg.kernel.mcp.prompts_and_resources import Prompt
from uraniborg.kernel.mcp.testing import ClientSession, McpError, connect_client

KNOWN = ["kepler-90", "trappist-1", "Trappist-2", "my-trappist", *(f"star-{number}" for number in range(150))]


def prompting_server() -> Server:
    server = make_server("prompting", version="1", instructions="")

    async def list_systems() -> list[str]:
        return KNOWN

    @prompt(server, title="Explore", values={"system": list_systems})
    async def explore(  # pyright: ignore[reportUnusedFunction]
        system: Annotated[str, Field(min_length=1, description="A system.")], style: str = "plain"
    ) -> str:
        """Explore a system."""
        return f"Explore {system}, {style}."

    @prompt(server, title="Fail", values={"how": fail})
    async def break_down(how: str = "") -> str:  # pyright: ignore[reportUnusedFunction]
        """Fail."""
        raise RuntimeError("sk-secret")

    @resource(server, "sample://{key}/text", title="Text")
    async def text(key: str) -> str:  # pyright: ignore[reportUnusedFunction]
        """Return the key."""
        return key

    return server


async def fail() -> list[str]:
    raise RuntimeError("sk-secret")


async def error_of(client: ClientSession, name: str, arguments: dict[str, str] | None = None) -> dict[str, Any]:
    with pytest.raises(McpError) as caught:
        await client.get_prompt(name, arguments)
    error = caught.value.error
    assert error.data is not None
    return {"rpc": error.code, **error.data["error"]}


async def test_prompts_and_completions_are_advertised_once_there_is_a_prompt() -> None:
    async with connect_client(prompting_server()) as client:
        capabilities = (await client.initialize()).capabilities.model_dump(exclude_none=True)
    assert capabilities.keys() == {"prompts", "completions", "resources"}
    assert capabilities["prompts"] == {"listChanged": False}


async def test_a_prompt_is_listed_with_its_title_description_and_arguments() -> None:
    async with connect_client(prompting_server()) as client:
        listed = (await client.list_prompts()).prompts[0].model_dump(exclude_none=True)
    assert listed == {
        "name": "explore",
        "title": "Explore",
        "description": "Explore a system.",
        "arguments": [
            {"name": "system", "description": "A system.", "required": True},
            {"name": "style", "required": False},
        ],
    }


async def test_a_prompt_is_one_message_of_the_user() -> None:
    async with connect_client(prompting_server()) as client:
        result = await client.get_prompt("explore", {"system": "Ü {x}"})
    (message,) = result.messages
    assert isinstance(message.content, TextContent)
    assert (message.role, message.content.text) == ("user", "Explore Ü {x}, plain.")
    assert result.description == "Explore a system."


async def test_errors_are_those_of_every_surface() -> None:
    async with connect_client(prompting_server()) as client:
        unknown = await error_of(client, "explode")
        missing = await error_of(client, "explore")
        strange = await error_of(client, "explore", {"system": "a", "sistem": "b"})
        broken = await error_of(client, "break_down")
    assert (unknown["rpc"], unknown["code"], unknown["allowed"]) == (
        -32602,
        "unknown_prompt",
        ["explore", "break_down"],
    )
    assert (missing["rpc"], missing["code"], missing["argument"]) == (-32602, "invalid_argument", "system")
    assert missing["hint"] == "explore takes system (required), style."
    assert (strange["rpc"], strange["argument"]) == (-32602, "sistem")
    assert (broken["rpc"], broken["code"]) == (-32603, "internal_error")
    assert "sk-secret" not in str(broken)


async def complete(client: ClientSession, argument: str, value: str, name: str = "explore") -> Any:
    reference = PromptReference(type="ref/prompt", name=name)
    return (await client.complete(reference, {"name": argument, "value": value})).completion


async def test_values_that_begin_with_the_text_come_first() -> None:
    async with connect_client(prompting_server()) as client:
        found = await complete(client, "system", "trap")
        everything = await complete(client, "system", "")
    assert (found.values, found.total, found.hasMore) == (["trappist-1", "Trappist-2", "my-trappist"], 3, False)
    assert (everything.values, everything.total, everything.hasMore) == (KNOWN[:100], len(KNOWN), True)


@pytest.mark.parametrize(("count", "has_more"), [(100, False), (101, True)])
async def test_a_completion_with_more_than_a_hundred_values_is_marked(count: int, has_more: bool) -> None:
    async def list_stars() -> list[str]:
        return [f"star-{number}" for number in range(count)]

    found = await Prompt(fail, "explore", "Explore", "Explore a star.", {"star": list_stars}).complete("star", "STAR")
    assert (len(found.values), found.total, found.hasMore) == (100, count, has_more)


async def test_arguments_without_known_values_and_resources_have_no_completion() -> None:
    async with connect_client(prompting_server()) as client:
        assert (await complete(client, "style", "p")).values == []
        reference = ResourceTemplateReference(type="ref/resource", uri="sample://{key}/text")
        assert (await client.complete(reference, {"name": "key", "value": ""})).completion.values == []


async def test_a_failed_completion_discloses_nothing() -> None:
    async with connect_client(prompting_server()) as client:
        with pytest.raises(McpError) as caught:
            await complete(client, "how", "", "break_down")
        assert caught.value.error.code == -32603
        assert "sk-secret" not in str(caught.value.error)
        with pytest.raises(McpError) as unknown:
            await complete(client, "how", "", "explode")
    assert unknown.value.error.code == -32602


def test_a_prompt_needs_an_async_function_a_description_and_its_own_name() -> None:
    server = prompting_server()

    async def explore() -> str:
        """Explore."""
        return ""

    async def silent() -> str:
        return ""

    def plain() -> str:
        """Plain."""
        return ""

    for function in (explore, silent, plain):
        with pytest.raises(TypeError):
            prompt(server, title="x")(function)  # pyright: ignore[reportArgumentType]
