"""Offer async functions as tools, resources and prompts of a server."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from mcp import types

from uraniborg.kernel.mcp.prompts_and_resources import Prompt, Values
from uraniborg.kernel.mcp.replies import Origin
from uraniborg.kernel.mcp.server import Failed, Server
from uraniborg.kernel.mcp.tool_calls import AsyncFunction

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
    about: Sequence[str] = (),
    failed: Failed | None = None,
    foreign: Sequence[Origin] = (),
) -> Callable[[Function], Function]:
    """Register an async function as a tool of `server`; the function itself is unchanged.

    The return value becomes one text block: a string unchanged, a dict, list or pydantic model as compact JSON, which
    is also sent as structured content unless `structured` is off. An exception becomes an error result; an ErrorReply
    is a return value that is marked as an error, and an EncodedReply one that is JSON already. The docstring is the
    description, the signature the input schema. A return annotation that is a TypedDict, a model or a list is
    published as the output schema; replies are not checked against it. `about` names arguments that every error of
    a call and the call log include. `failed` makes the reply to an error, also to invalid arguments, if the reply
    is more than the error. `foreign` names the origins of foreign text that replies, and errors other than those of
    invalid arguments, can quote: their block is marked.

    Raise TypeError for a function that is not async, has no description, or whose name is taken.
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
            about=about,
            failed=failed,
            foreign=foreign,
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
    foreign: Sequence[Origin] = (),
) -> Callable[[Function], Function]:
    """Register the result of an async function (text, bytes, or a value to send as JSON) as the resource at `uri`.

    Each `{name}` in `uri` is one path segment, passed percent-decoded as the argument with that name; `{?name}` at the
    end is an optional query parameter, whose argument needs a default. If several resources match, the first registered
    one is read. An exception becomes a JSON-RPC error with the error body as its data. `foreign` names the origins of
    foreign text in the result, whose contents are marked.

    Raise TypeError for a function that is not async, has no description, or whose arguments differ from those of `uri`.
    """

    def register(function: Function) -> Function:
        server.register_resource(
            function,
            uri,
            name=name or function.__name__,
            title=title,
            description=description or inspect.getdoc(function) or "",
            mime_type=mime_type,
            foreign=foreign,
        )
        return function

    return register


def prompt(
    server: Server,
    *,
    title: str,
    name: str | None = None,
    description: str | None = None,
    values: Mapping[str, Values] | None = None,
) -> Callable[[Function], Function]:
    """Register an async function, which returns a text, as a prompt: a command that a client offers to a person.

    The arguments are strings; an argument with a default is optional. `values` has, for arguments that clients can
    complete, a function that returns the known values. An exception becomes a JSON-RPC error.

    Raise TypeError for a function that is not async, has no description, or whose name is taken.
    """

    def register(function: Function) -> Function:
        server.register_prompt(
            Prompt(
                function,
                name=name or function.__name__,
                title=title,
                description=description or inspect.getdoc(function) or "",
                values=values or {},
            )
        )
        return function

    return register
