"""The replies of connections, settings, locations and checks."""

from typing import Any, Literal

from pydantic import Field

from uraniborg.console.replies import Reply
from uraniborg.console.search_replies import NamedSource


class PartAddress(Reply):
    """A server of this process: its address, or why it does not run."""

    name: str
    purpose: str
    url: str
    mcp: str | None
    running: bool
    problem: str | None
    hint: str | None
    socket: str | None
    """The path of its unix socket."""
    socket_problem: str | None
    """Why a server that runs has no socket."""
    command: str | None
    """A line that connects an agent to its address."""


class AgentServer(Reply):
    """An MCP server of this installation as clients start or reach it."""

    name: str
    transport: Literal["stdio", "http"]
    command: list[str]
    """The program with its arguments; for an address, the program that a person starts."""
    url: str | None
    line: str
    """A line that adds the server to Claude Code."""


class AgentClient(Reply):
    """A client of agents, and which of our servers its file has."""

    client: str
    title: str
    installed: bool
    file: str
    connected: list[str]
    problem: str | None
    command: str
    """A line that connects the client."""
    entry: str
    """The text that the file of the client would get."""
    reload_hint: str


class PaperSource(NamedSource):
    """A source of papers. Its key is never sent."""

    enabled: bool
    needs_key: bool
    has_key: bool
    key_variable: str


class ToolCall(Reply):
    """A call of a tool, without its arguments. `about` has the ids of universes, `message` the text of its error."""

    server: str
    tool: str
    at: str
    duration_ms: float
    reply_bytes: int
    error: str | None
    client: str | None
    about: list[str]
    message: str | None


class ConnectionList(Reply):
    """Everything that this installation is connected to."""

    parts: list[PartAddress]
    servers: list[AgentServer]
    clients: list[AgentClient]
    sources: list[PaperSource]
    offline: bool
    """Whether searches replay recordings instead of asking sources."""
    problem: str | None = None
    """Why servers and clients cannot be listed."""


class CallList(Reply):
    """The last calls, the latest first."""

    calls: list[ToolCall]


class SettingFacts(Reply):
    """A setting, its value with secrets masked, and the origin of the value."""

    setting: str
    value: Any
    origin: str
    origin_kind: Literal["environment", "dotenv", "file", "default"]
    origin_name: str | None = None
    origin_file: str | None = None
    changeable: bool = False


class SettingList(Reply):
    """All settings."""

    settings: list[SettingFacts]


class LocationFacts(Reply):
    """A file or folder of this installation."""

    path: str
    exists: bool
    bytes: int
    origin: str
    origin_kind: str


class LocationList(Reply):
    """The files and folders of this installation, by name."""

    paths: dict[str, LocationFacts]


class CheckFacts(Reply):
    """The result of one check."""

    topic: str
    name: str
    status: Literal["ok", "note", "warning", "failure"]
    detail: str
    hint: str | None = None


class CheckList(Reply):
    """The results of all checks."""

    ok: bool
    checks: list[CheckFacts] = Field(default_factory=list[CheckFacts])
