"""The echo node."""

import json
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from pflow.domain.node import NodeContext
from pflow.domain.node_interface import parse_interface
from pflow.errors import NodeFailed
from pflow.nodes import echo as echo_node

echo: Any = echo_node.echo
"""Called with parameters of any shape."""

CONTEXT = NodeContext("run", "workflow", "node", Path(), Path(), Path("spool"))


@pytest.mark.parametrize("message", ["hello", "", 3, 0, None, True, [1, {"a": None}], {"deep": {"er": []}}])
async def test_the_type_of_a_message_is_unchanged(message: Any) -> None:
    assert await echo({"message": message}, CONTEXT) == {"echo": message}


async def test_the_defaults_of_the_interface_change_nothing() -> None:
    (plain,) = json.loads((resources.files("pflow.nodes") / "echo.json").read_text())["nodes"]
    interface = parse_interface(plain, source="builtin")
    defaults = {key: param.default for key, param in interface.params.items()}
    assert await echo({**defaults, "message": [1]}, CONTEXT) == {"echo": [1]}
    assert set(await echo({"message": "x", "data": 1}, CONTEXT)) == set(interface.outputs)


async def test_a_message_can_be_dressed_and_repeated() -> None:
    dressed = {"message": "hi", "prefix": "<", "suffix": ">", "uppercase": True, "count": 3}
    assert await echo(dressed, CONTEXT) == {"echo": "<HI> <HI> <HI>"}
    assert await echo({"message": {"a": 1}, "prefix": "got "}, CONTEXT) == {"echo": 'got {"a":1}'}
    assert await echo({"message": None, "suffix": "!"}, CONTEXT) == {"echo": "!"}
    assert await echo({"message": "x", "count": 0}, CONTEXT) == {"echo": ""}


async def test_data_passes_through() -> None:
    assert await echo({"message": "x", "data": {"a": [1]}}, CONTEXT) == {"echo": "x", "data": {"a": [1]}}


@pytest.mark.parametrize("count", [10**9, -1])
async def test_more_than_fits_a_value_is_refused(count: int) -> None:
    with pytest.raises(NodeFailed, match="`count`"):
        await echo({"message": "x", "count": count}, CONTEXT)


async def test_an_echo_has_ten_million_characters_at_most() -> None:
    fits = await echo({"message": "x" * 9, "count": 1_000_000}, CONTEXT)
    assert len(fits["echo"]) == 9_999_999
    for message, count in (("x" * 10, 1_000_000), ("x" * 9, 1_000_001), ("x", -1)):
        with pytest.raises(NodeFailed, match=f"`count` is {count}"):
            await echo({"message": message, "count": count}, CONTEXT)
