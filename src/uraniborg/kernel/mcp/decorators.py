"""The decorators that offer an async function as a tool or a resource of a server."""

import inspect
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from mcp import types

from uraniborg.kernel.mcp.arguments import AsyncFunction
from uraniborg.kernel.mcp.server import Failed, Server

Function = TypeVar("Function", bound=AsyncFunction)


def tool(
    server: Server,
    *,
    title: str,
    read_only: bool,
    idempotent: bool = False,
    destructive: bool = False,
    open_world: bool = False,
    name: str | None = None,
    description: str | None = None,
    structured: bool = True,
    output: Any = None,
    about: Sequence[str] = (),
    failed: Failed | None = None,
) -> Callable[[Function], Function]:
    """Offers an async function as a tool of `server` and leaves the function itself as it is.

    What it returns becomes one text block: a string as it is, a dict, list or pydantic model as compact JSON, which is
    sent as structured content too unless `structured` is off. What it raises becomes an error result, as does an
    ErrorReply, which says the same as any other value and is marked as an error. Its docstring is the description, its
    signature the input schema. `output` is the type (a TypedDict or a model) of its structured content, published as
    the output schema; replies are not checked against it. `about` names arguments that say what a call is about: every
    error of it carries them. `failed` says what is replied to an error, also to arguments that do not fit, and to what
    the function raises, where that is more than the error.

    Raises TypeError for a function that is not async, has no description, or whose name is taken, and for an `output`
    that is not an object or that `structured` turns off.
    """
    annotations = types.ToolAnnotations(
        title=title,
        readOnlyHint=read_only,
        idempotentHint=idempotent,
        destructiveHint=destructive,
        openWorldHint=open_world,
    )

    def register(function: Function) -> Function:
        server.register_tool(
            function,
            name=name or function.__name__,
            title=title,
            description=description or inspect.getdoc(function) or "",
            annotations=annotations,
            structured=structured,
            output=output,
            about=about,
            failed=failed,
        )
        return function

    return register


def resource(
    server: Server,
    uri: str,
    *,
    title: str,
    name: str | None = None,
    description: str | None = None,
    mime_type: str = "text/plain",
) -> Callable[[Function], Function]:
    """Offers what an async function returns (text, bytes, or a value to be sent as JSON) under `uri`.

    Each `{name}` in `uri` stands for one path segment and reaches the function, percent-decoded, as the argument of
    that name; `{?name}` at the end is an optional query parameter, whose argument needs a default. Of several resources
    that match, the one registered first is read. What the function raises becomes a JSON-RPC error with the error body
    as its data.

    Raises TypeError for a function that is not async, has no description, or takes other arguments than `uri` has.
    """

    def register(function: Function) -> Function:
        server.register_resource(
            function,
            uri,
            name=name or function.__name__,
            title=title,
            description=description or inspect.getdoc(function) or "",
            mime_type=mime_type,
        )
        return function

    return register
