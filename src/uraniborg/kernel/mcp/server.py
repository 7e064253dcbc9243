"""Servers, their tools, resources and prompts."""

import inspect
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from types import UnionType
from typing import Any, Final, Literal, Union, cast, get_args, get_origin, get_type_hints

from mcp import types
from mcp.server.fastmcp import FastMCP
from mcp.server.fastmcp.server import Settings
from mcp.server.lowlevel.helper_types import ReadResourceContents
from pydantic import AnyUrl, TypeAdapter

from uraniborg.kernel.errors import InvalidInput, NotFound, UraniborgError
from uraniborg.kernel.ids import identify_error
from uraniborg.kernel.json_values import Json, JsonObject, JsonSchema
from uraniborg.kernel.logging import make_printable
from uraniborg.kernel.mcp.call_context import enable_cancellation, enable_progress, get_client_name
from uraniborg.kernel.mcp.prompts_and_resources import (
    Listing,
    PagedListing,
    Prompt,
    UnknownPrompt,
    UriTemplate,
    add_listed,
    list_page,
)
from uraniborg.kernel.mcp.protocol import Protocol
from uraniborg.kernel.mcp.replies import (
    EncodedReply,
    ErrorReply,
    Origin,
    Reply,
    encode_text,
    is_end_of_call,
    log_unexpected,
    make_error_reply,
    make_foreign_meta,
    make_protocol_error,
    make_reply,
    read_error,
)
from uraniborg.kernel.mcp.stdio import Cleanup, run_stdio
from uraniborg.kernel.mcp.tool_calls import (
    Arguments,
    AsyncFunction,
    Hints,
    find_address_owner_hint,
    find_hint,
    find_tool_owner_hint,
)
from uraniborg.kernel.store.tool_call_log import record_call

_MOST_NAMED: Final = 100

_REQUESTS_OF: Final[dict[str, tuple[type, ...]]] = {
    "tools": (types.ListToolsRequest, types.CallToolRequest),
    "resources": (types.ListResourcesRequest, types.ListResourceTemplatesRequest, types.ReadResourceRequest),
    "prompts": (types.ListPromptsRequest, types.GetPromptRequest, types.CompleteRequest),
}


class UnknownTool(NotFound):
    code = "unknown_tool"


class UnknownResource(NotFound):
    code = "resource_not_found"


Failed = Callable[[UraniborgError, JsonObject], Any]
"""A function from an error and the arguments of the call, which may be invalid, to the reply of a tool."""


@dataclass(frozen=True)
class _Tool:
    function: AsyncFunction
    arguments: Arguments
    structured: bool
    about: tuple[str, ...]
    failed: Failed | None
    foreign: tuple[Origin, ...]


@dataclass(frozen=True)
class _Resource:
    template: UriTemplate
    function: AsyncFunction
    arguments: Arguments
    mime_type: str
    foreign: tuple[Origin, ...]


class Server(FastMCP[Any]):
    """A FastMCP server with our replies and error bodies; `make_server` creates it."""

    def __init__(
        self,
        name: str,
        *,
        version: str,
        instructions: str,
        cleanup: Cleanup | None,
        interrupted: Cleanup | None,
        failed: Failed | None = None,
        hints: Hints | None = None,
    ) -> None:
        # The SDK configures the root logger unless it has a handler, and reads any .env file.
        placeholder = logging.NullHandler()
        logging.getLogger().addHandler(placeholder)
        env_file, Settings.model_config["env_file"] = Settings.model_config.get("env_file"), None
        try:
            super().__init__(name, instructions=instructions)
        finally:
            Settings.model_config["env_file"] = env_file
            logging.getLogger().removeHandler(placeholder)
        self._mcp_server = Protocol(name, version=version, instructions=instructions)
        self._mcp_server.refuse_call = self.refuse_call
        self._setup_handlers()
        self._mcp_server.completion()(self._complete_argument)
        self._mcp_server.request_handlers[types.CallToolRequest] = self._answer_call
        self._mcp_server.request_handlers[types.ListResourcesRequest] = self._answer_resource_list
        self._not_offered = {
            kind: self._mcp_server.request_handlers.pop(kind) for kinds in _REQUESTS_OF.values() for kind in kinds
        }
        self._cleanup = cleanup
        self._interrupted = interrupted
        self._failed = failed
        self._hints = hints or {}
        self._known_tools: dict[str, _Tool] = {}
        self._known_resources: list[_Resource] = []
        self._listings: list[Listing] = []
        self._paged_listing: PagedListing | None = None
        self._known_prompts: dict[str, Prompt] = {}

    @property
    def protocol(self) -> Protocol:
        """The protocol engine that the transports use."""
        assert isinstance(self._mcp_server, Protocol)
        return self._mcp_server

    @property
    def registrations(self) -> int:
        """The number of tools and resources: lists change only if it does."""
        return len(self._known_tools) + len(self._known_resources)

    @property
    def has_listings(self) -> bool:
        """True if the list of resources can differ each time, because functions list some of them."""
        return bool(self._listings or self._paged_listing)

    def run(
        self,
        transport: Literal["stdio", "sse", "streamable-http"] = "stdio",
        mount_path: str | None = None,
    ) -> None:
        """Serve over stdio until the client leaves; see `run_stdio`. Raise InvalidInput for another transport."""
        if transport != "stdio":
            raise InvalidInput(
                f"`run` does not support the transport {transport}.",
                hint="Create an ASGI app with make_stateless_app or make_stateful_app, and run it with uvicorn.",
                argument="transport",
                allowed=["stdio"],
            )
        run_stdio(self.protocol, cleanup=self._cleanup, interrupted=self._interrupted)

    def register_tool(
        self,
        function: AsyncFunction,
        *,
        name: str,
        title: str,
        description: str,
        annotations: types.ToolAnnotations,
        structured: bool,
        about: Sequence[str] = (),
        failed: Failed | None = None,
        foreign: Sequence[Origin] = (),
    ) -> None:
        """Offer `function` as a tool. Raise TypeError as `tool` does."""
        _check_function(function, description)
        if name in self._known_tools:
            raise TypeError(f"There is a tool '{name}' already.")
        arguments = Arguments(function, name, self._hints)
        registered = self._tool_manager.add_tool(
            function,
            name=name,
            title=title,
            description=description,
            annotations=annotations,
            structured_output=False,
        )
        registered.parameters = {**arguments.schema}
        published = _make_output_schema(function) if structured else None
        registered.fn_metadata.output_schema = None if published is None else {**published}
        self._known_tools[name] = _Tool(function, arguments, structured, tuple(about), failed, tuple(foreign))
        self._offer_capability("tools")

    def register_resource(
        self,
        function: AsyncFunction,
        uri: str,
        *,
        name: str,
        title: str,
        description: str,
        mime_type: str,
        foreign: Sequence[Origin] = (),
    ) -> None:
        """Offer the result of `function` at `uri`. Raise TypeError as `resource` does."""
        _check_function(function, description)
        template = UriTemplate(uri)
        if template.names != set(inspect.signature(function).parameters):
            raise TypeError(
                f"{function.__name__} does not match {uri}: its arguments must be {sorted(template.names)}."
            )
        if template.names:
            # The SDK's decorator does not support query parameters.
            self._resource_manager.add_template(
                function, uri, name=name, title=title, description=description, mime_type=mime_type
            )
        else:
            self.resource(uri, name=name, title=title, description=description, mime_type=mime_type)(function)
        self._known_resources.append(
            _Resource(template, function, Arguments(function, name), mime_type, tuple(foreign))
        )
        self._offer_capability("resources")

    def register_listing(self, function: Listing) -> None:
        """Add the resources that `function` returns to the registered ones each time they are listed.

        A URI that is listed already is skipped. If `function` fails, its resources are left out and the error logged.
        """
        self._listings.append(function)
        self._offer_capability("resources")

    def register_paged_listing(self, function: PagedListing) -> None:
        """Add the pages of `function` to the registered resources: the first page with them, the others alone.

        An error on the first page is logged and leaves the page out; on a later page it is the reply. `function` raises
        InvalidInput for an unknown cursor. Raise TypeError if the server has a paged listing already.
        """
        if self._paged_listing is not None:
            raise TypeError("There is a paged listing already.")
        self._paged_listing = function
        self._offer_capability("resources")

    def register_prompt(self, prompt: Prompt) -> None:
        """Offer a prompt. Raise TypeError as `prompt` does."""
        _check_function(prompt.function, prompt.description)
        if prompt.name in self._known_prompts:
            raise TypeError(f"There is a prompt '{prompt.name}' already.")
        self._known_prompts[prompt.name] = prompt
        self._offer_capability("prompts")

    async def list_prompts(self) -> list[types.Prompt]:
        """Return the registered prompts."""
        return [prompt.describe() for prompt in self._known_prompts.values()]

    async def get_prompt(self, name: str, arguments: dict[str, str] | None = None) -> types.GetPromptResult:
        """Return the text of a prompt. Raise the SDK's protocol error, with the error body as its data."""
        try:
            return await self._find_prompt(name).write(arguments or {})
        except BaseException as exc:
            if is_end_of_call(exc):
                raise
            raise make_protocol_error(log_unexpected(exc, during=f"prompt {name[:80]}")) from exc

    async def list_resources(self) -> list[types.Resource]:
        """Return the registered resources without templates, and the resources that functions list."""
        return await add_listed(await super().list_resources(), self._listings)

    async def call_tool(self, name: str, arguments: JsonObject) -> Any:
        """Call a tool and return its CallToolResult. Never raise: a failure is a result too."""
        with enable_progress(), enable_cancellation():
            return (await self.reply_to(name, arguments)).result()

    async def reply_to(self, name: str, arguments: JsonObject) -> Reply:
        """Return the reply of a tool to these arguments, without progress reports, and record the call. Never raise."""
        started = time.perf_counter()
        reply: Reply | None = None
        try:
            reply = await self._compute_reply(name, arguments)
            return reply
        finally:
            called = self._known_tools.get(name)
            about = self._read_subjects(called, arguments)
            code, message = read_error(reply.text) if reply and reply.is_error else (None, "")
            record_call(
                self.name,
                name if called else "(unknown)",
                duration_ms=(time.perf_counter() - started) * 1_000,
                reply_bytes=len(reply.text.encode()) if reply else 0,
                error=code if reply else "cancelled",
                client=get_client_name(),
                about=list(about.values()),
                message=message if about else "",
            )

    def _read_subjects(self, called: _Tool | None, arguments: JsonObject) -> dict[str, str]:
        """Return the arguments that a call is about; `arguments` may be wrong."""
        if called is None or not called.about:
            return {}
        given = {argument: arguments.get(argument) for argument in called.about}
        return {argument: value[:_MOST_NAMED] for argument, value in given.items() if isinstance(value, str)}

    async def _compute_reply(self, name: str, arguments: JsonObject) -> Reply:
        foreign: tuple[Origin, ...] = ()
        try:
            called = self._find_tool(name)
            valid = called.arguments.validate(arguments)
            foreign = called.foreign
            value = await called.function(**valid)
            if isinstance(value, ErrorReply):
                reply = _make_failed_reply(value.value, structured=called.structured)
            else:
                return make_reply(value, structured=called.structured, foreign=foreign)
        except BaseException as exc:
            if is_end_of_call(exc):
                raise
            reply = self.refuse_call(name, arguments, log_unexpected(exc, during=f"tool {name[:80]}"))
        # The error of a tool that ran can quote foreign text; a refusal before it quotes only the caller.
        return reply._replace(foreign=foreign)

    def refuse_call(self, name: str, arguments: JsonObject, error: UraniborgError) -> Reply:
        """Return the reply of a tool that failed with `error`; `arguments` may be wrong."""
        called = self._known_tools.get(name)
        if called is None:
            error = self._make_unknown_tool_error(name)
            return (
                make_error_reply(error) if self._failed is None else _make_failed_reply(self._failed(error, arguments))
            )
        for argument, value in self._read_subjects(called, arguments).items():
            error.ids.setdefault(argument, value)
        if called.failed is None:
            return make_error_reply(error)
        return _make_failed_reply(called.failed(error, arguments), structured=called.structured)

    async def read_resource(self, uri: AnyUrl | str) -> list[ReadResourceContents]:
        """Read a resource. Raise the SDK's protocol error, with the error body as its data, and nothing else."""
        try:
            found, values = self._find_resource(str(uri))
            value = await found.function(**found.arguments.validate(values))
            content = value if isinstance(value, bytes) else encode_text(value)
            meta = make_foreign_meta(found.foreign)
            return [ReadResourceContents(content=content, mime_type=found.mime_type, meta=meta)]
        except BaseException as exc:
            if is_end_of_call(exc):
                raise
            raise make_protocol_error(log_unexpected(exc, during="reading a resource")) from exc

    def _find_tool(self, name: str) -> _Tool:
        if known := self._known_tools.get(name):
            return known
        raise self._make_unknown_tool_error(name)

    def _make_unknown_tool_error(self, name: str) -> UnknownTool:
        offered = list(self._known_tools)
        return UnknownTool(
            f"There is no tool '{make_printable(name[:80])}'.",
            hint=f"{find_tool_owner_hint(self.name, name) or find_hint(name, self._hints)}"
            f"Use one of: {', '.join(offered)}.",
            allowed=offered,
        )

    def _find_prompt(self, name: str) -> Prompt:
        if known := self._known_prompts.get(name):
            return known
        raise UnknownPrompt(name, list(self._known_prompts))

    async def _complete_argument(
        self,
        reference: types.PromptReference | types.ResourceTemplateReference,
        argument: types.CompletionArgument,
        _context: types.CompletionContext | None,
    ) -> types.Completion | None:
        """Return known values of an argument of a prompt; None for parameters of resources."""
        if isinstance(reference, types.ResourceTemplateReference):
            return None
        try:
            return await self._find_prompt(reference.name).complete(argument.name, argument.value)
        except BaseException as exc:
            if is_end_of_call(exc):
                raise
            raise make_protocol_error(log_unexpected(exc, during="completion of an argument")) from exc

    def _find_resource(self, uri: str) -> tuple[_Resource, dict[str, str]]:
        for known in self._known_resources:
            if (values := known.template.match(uri)) is not None:
                return known, values
        offered = [known.template.text for known in self._known_resources]
        raise UnknownResource(
            f"There is no resource '{make_printable(uri[:200])}'.",
            hint=f"{find_address_owner_hint(self.name, uri) or find_hint(uri, self._hints)}"
            f"Use one of: {', '.join(offered)}.",
            uri=make_printable(uri[:200]),
            allowed=offered,
        )

    async def _answer_call(self, request: types.CallToolRequest) -> types.ServerResult:
        result: types.CallToolResult = await self.call_tool(request.params.name, request.params.arguments or {})
        return types.ServerResult(result)

    async def _answer_resource_list(self, request: types.ListResourcesRequest) -> types.ServerResult:
        if self._paged_listing is None:
            return types.ServerResult(types.ListResourcesResult(resources=await self.list_resources()))
        cursor = request.params.cursor if request.params else None
        registered = await self.list_resources() if cursor is None else []
        resources, following = await list_page(registered, self._paged_listing, cursor)
        return types.ServerResult(types.ListResourcesResult(resources=resources, nextCursor=following))

    def _offer_capability(self, capability: str) -> None:
        for kind in _REQUESTS_OF[capability]:
            self._mcp_server.request_handlers[kind] = self._not_offered[kind]


def make_server(
    name: str,
    *,
    version: str,
    instructions: str,
    cleanup: Cleanup | None = None,
    interrupted: Cleanup | None = None,
    failed: Failed | None = None,
    hints: Hints | None = None,
) -> Server:
    """Return a server without tools, resources and prompts; `instructions` describe its purpose to an agent.

    Each of the three is advertised after the first is registered. `run` awaits `cleanup` before the server ends, and
    `interrupted` before that if a signal ends the server. `failed` makes the reply to a call of an unknown tool if that
    is more than the error. `hints` are for names that agents try but the server does not have.
    """
    # The SDK logs every request at the level INFO.
    if logging.getLogger("mcp").level == logging.NOTSET:
        logging.getLogger("mcp").setLevel(logging.WARNING)
    return Server(
        name,
        version=version,
        instructions=instructions,
        cleanup=cleanup,
        interrupted=interrupted,
        failed=failed,
        hints=hints,
    )


def _make_failed_reply(value: Any, *, structured: bool = True) -> Reply:
    """Return the reply of a tool that failed and describes the failure itself. Raise as `make_reply` does."""
    return make_reply(identify_error(value), structured=structured)._replace(is_error=True)


def _check_function(function: Callable[..., Awaitable[Any]], description: str) -> None:
    if not inspect.iscoroutinefunction(function):
        raise TypeError(f"{function.__name__} must be an async function: a plain one would block every other call.")
    if not description.strip():
        raise TypeError(f"{function.__name__} needs a docstring: agents choose tools by it.")


def _make_output_schema(function: AsyncFunction) -> JsonSchema | None:
    """Return the schema of the structured content, as the return annotation declares it; None if it declares none."""
    declared: Any = get_type_hints(function, include_extras=True).get("return", Any)
    if get_origin(declared) in (Union, UnionType):
        declared = Union[tuple(kind for kind in get_args(declared) if kind not in (ErrorReply, EncodedReply))]  # noqa: UP007
    adapter: TypeAdapter[Any] = TypeAdapter(declared)
    schema = cast("JsonSchema", _remove_titles(adapter.json_schema(mode="serialization")))
    if schema.get("type") == "array":
        definitions = schema.pop("$defs", {})
        whole: JsonSchema = {"type": "object", "properties": {"result": schema}, "required": ["result"]}
        return {**whole, "$defs": definitions} if definitions else whole
    return schema if "properties" in schema else None


def _remove_titles(schema: JsonObject, *, is_map: bool = False) -> JsonObject:
    """Return a schema without the titles, which repeat the names of fields. `is_map`: its keys are names of fields."""

    def clean(key: str, value: Json) -> Json:
        if isinstance(value, list):
            return [clean("", one) for one in value]
        is_inner_map = not is_map and key in ("properties", "$defs")
        return _remove_titles(value, is_map=is_inner_map) if isinstance(value, dict) else value

    return {key: clean(key, value) for key, value in schema.items() if is_map or key != "title"}
