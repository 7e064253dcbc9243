"""Replies about this installation: folders, settings, servers, backups, and the checks of `uraniborg doctor`."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from uraniborg.kernel.json_values import Json
from uraniborg.kernel.shared_fields import ActorFields, ChangeFields
from uraniborg.kernel.store.tool_call_log import ToolCall


class ServerAddress(TypedDict):
    """A server of this process: its address, or why it does not run."""

    name: str
    purpose: str
    url: str
    mcp: str | None
    running: bool
    problem: str | None
    hint: str | None
    socket: Annotated[str | None, Field(description="The path of its unix socket.")]
    socket_problem: Annotated[str | None, Field(description="Why a server that runs has no socket.")]


class PartAddress(ServerAddress):
    """A server of this process: its address, or why it does not run."""

    command: Annotated[str | None, Field(description="A line that connects an agent to its address.")]


class ServedAddresses(TypedDict):
    """What a server prints at its start with `--json`."""

    url: str
    console: Annotated[str, Field(description="The address of the console, with the token.")]
    token: str
    parts: list[ServerAddress]


class AgentServer(TypedDict):
    """An MCP server of this installation as clients start or reach it."""

    name: str
    transport: Literal["stdio", "http"]
    command: Annotated[
        list[str],
        Field(description="The program with its arguments; for an address, the program that a person starts."),
    ]
    url: str | None
    line: Annotated[str, Field(description="A line that adds the server to Claude Code.")]


class ClientFacts(TypedDict):
    """A client of agents, and which of our servers its file has."""

    client: str
    title: str
    installed: bool
    file: str
    connected: list[str]
    problem: str | None


class AgentClient(ClientFacts):
    """A client of agents, and which of our servers its file has."""

    command: Annotated[str, Field(description="A line that connects the client.")]
    entry: Annotated[str, Field(description="The text that the file of the client would get.")]
    reload_hint: str


class ClientChange(TypedDict):
    """What became of a change of the file of a client."""

    client: str
    file: str
    outcome: str
    servers: list[str]


class PaperSource(TypedDict):
    """A source of papers. Its key is never sent."""

    name: str
    enabled: bool
    needs_key: bool
    has_key: bool
    label: Annotated[str, Field(description="The name of the source that people know.")]
    key_variable: str


class SourceList(TypedDict):
    """The sources of papers."""

    offline: Annotated[bool, Field(description="Whether searches replay recordings instead of asking sources.")]
    sources: list[PaperSource]


class ConnectionList(SourceList):
    """Everything that this installation is connected to."""

    parts: list[PartAddress]
    servers: list[AgentServer]
    clients: list[AgentClient]
    problem: NotRequired[Annotated[str | None, Field(description="Why servers and clients cannot be listed.")]]


class CallList(TypedDict):
    """The last calls, the latest first."""

    calls: list[ToolCall]


OriginName = Literal["environment", "dotenv", "file", "default"]


class OriginFacts(TypedDict):
    """Where a value comes from: as text, its kind, and the variable and the file if there are any."""

    origin: str
    origin_kind: OriginName
    origin_name: NotRequired[str]
    origin_file: NotRequired[str]


class SettingFacts(OriginFacts):
    """A setting, its value with secrets masked, and the origin of the value."""

    setting: str
    value: Json
    changeable: NotRequired[bool]


class SettingList(TypedDict):
    """All settings."""

    settings: list[SettingFacts]


class LocationFacts(OriginFacts):
    """A file or folder of this installation."""

    path: str
    exists: bool
    bytes: int


class LocationList(TypedDict):
    """The files and folders of this installation, by name."""

    paths: dict[str, LocationFacts]


class CheckFacts(TypedDict):
    """The result of one check."""

    topic: str
    name: str
    status: Literal["ok", "note", "warning", "failure"]
    detail: str
    hint: NotRequired[str]


class CheckList(TypedDict):
    """The results of all checks."""

    ok: bool
    checks: list[CheckFacts]


class ArchiveSummary(TypedDict):
    """A backup that was written or restored: its file, its size, and who wrote it, when and with which version."""

    file: str
    format: int
    version: str
    created_at: str
    actor: ActorFields | None
    files: Annotated[int, Field(description="The number of files.")]
    bytes: int


class InstallationChange(ChangeFields):
    """A settings file, or the file of a client of agents, was written or deleted. `subject` is its path."""

    kind: Literal["installation"]


Status = Literal["ok", "note", "warning", "failure"]


@dataclass(frozen=True)
class InstallationCheck:
    """The result of one check. `hint` says what to do; every warning and failure has one."""

    topic: str
    name: str
    status: Status
    detail: str
    hint: str = ""

    def as_dict(self) -> "CheckFacts":
        """Return the result as JSON values, without an empty hint."""
        facts: CheckFacts = {"topic": self.topic, "name": self.name, "status": self.status, "detail": self.detail}
        if self.hint:
            facts["hint"] = self.hint
        return facts


Checks = Iterator[InstallationCheck]
