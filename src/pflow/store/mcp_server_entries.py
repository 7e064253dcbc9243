"""Read and write entries of `mcp-servers.json`: commands and addresses, with variables of the environment."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, Final, TypedDict, cast

from pflow.errors import PflowError
from uraniborg.kernel.errors import Conflict, InvalidInput, NotFound
from uraniborg.kernel.logging import MASK, make_printable, redact

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import Json, JsonObject
    from uraniborg.kernel.mcp.remote_server import HttpServer, StdioServer

_CONNECTING_S: Final = 30.0
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,49}")
_VARIABLE: Final = re.compile(r"\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}")
_KINDS: Final = ("stdio", "http", "streamable-http", "streamable_http")


class InvalidServer(PflowError, InvalidInput):
    code = "invalid_mcp_server"
    type = "validation_error"


class UnknownServer(PflowError, NotFound):
    code = "mcp_server_not_found"


class ServerExists(PflowError, Conflict):
    code = "mcp_server_exists"
    type = "already_exists"


class ServerEntry(TypedDict, total=False):
    """A server in the file. It has either a `command` or a `url`, and may have more keys."""

    type: str
    url: str
    headers: dict[str, str]
    command: str
    args: list[str]
    env: dict[str, str]
    cwd: str | None
    timeout: "Json"


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """A server as the file has it: nothing is looked up in the environment yet."""

    name: str
    plain: ServerEntry

    @property
    def display_address(self) -> str:
        """The address, or the command as it would be typed; without secrets."""
        url = self.plain.get("url")
        return make_printable(redact(url or _format_command(self.plain.get("command", ""), self.plain.get("args", ()))))

    @property
    def timeout_s(self) -> float:
        given = self.plain.get("timeout")
        return float(given) if isinstance(given, int | float) and given > 0 else _CONNECTING_S


def parse_server_entry(name: str, entry: "Json | ServerEntry") -> ServerConfig:
    """Return the server of an entry. Raise InvalidServer."""
    plain: Any = entry if isinstance(entry, dict) else {}
    if not _NAME.fullmatch(name):
        problem = "a name is up to 50 letters, digits, dots, hyphens and underscores, and begins with a letter or digit"
        raise _make_invalid_error(name, problem, hint="Choose another name, such as my-server.")
    url = plain.get("url")
    if isinstance(plain.get("command"), str) == isinstance(url, str):
        raise _make_invalid_error(name, "it needs either a `command` or a `url`")
    if "type" in plain and plain["type"] not in _KINDS:
        raise _make_invalid_error(name, "its `type` must be stdio or http")
    if isinstance(url, str) and not url.startswith(("http://", "https://", "${")):
        raise _make_invalid_error(name, "its `url` must begin with http:// or https://")
    if isinstance(url, str) and not _VARIABLE.search(url) and not _has_host(url):
        raise _make_invalid_error(
            name, "its `url` has no valid host and port", hint="For example: https://example.org/mcp"
        )
    if not _is_list_of_texts(plain.get("args", [])):
        raise _make_invalid_error(name, "its `args` must be a list of texts")
    for key in ("env", "headers"):
        if not isinstance(plain.get(key, {}), dict) or not _is_list_of_texts(list(plain.get(key, {}).values())):
            raise _make_invalid_error(name, f"its `{key}` must be an object of texts")
    if plain.get("cwd") is not None and not isinstance(plain["cwd"], str):
        raise _make_invalid_error(name, "its `cwd` must be text")
    return ServerConfig(name, plain)


def resolve_server_address(
    config: ServerConfig, environ: Mapping[str, str] | None = None
) -> "StdioServer | HttpServer":
    """Return the address of the server with all variables replaced. Raise InvalidServer if a variable is not set."""
    from uraniborg.kernel.mcp.remote_server import HttpServer, StdioServer  # slow to import

    env = os.environ if environ is None else environ
    plain: ServerEntry = _expand_variables(config.name, config.plain, env)
    _register_server_secrets(config, plain)
    if url := plain.get("url"):
        return HttpServer(url, plain.get("headers", {}))
    folder = plain.get("cwd")
    return StdioServer(
        plain.get("command", ""),
        tuple(plain.get("args", ())),
        plain.get("env", {}),
        None if folder is None else str(Path(folder).expanduser()),
    )


def has_literal_secret(url: str) -> bool:
    """Return True if the address holds a token or password itself, not as a variable of the environment."""
    literal = _VARIABLE.sub("", url)
    return redact(literal) != literal


def _has_host(url: str) -> bool:
    from urllib.parse import urlsplit  # slow to import

    try:
        parts = urlsplit(url)
        return bool(parts.hostname) and parts.port != 0 and not any(sign.isspace() for sign in url)
    except ValueError:  # an unmatched bracket, or a port that is not a number
        return False


def _is_list_of_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in cast("list[Any]", value))


def _make_invalid_error(name: str, problem: str, hint: str = "") -> InvalidServer:
    return InvalidServer(
        f"The MCP server '{make_printable(name[:60])}' cannot be used: {problem}.",
        hint=hint or 'Describe it as {"command": "…", "args": ["…"]} or {"url": "https://…"}.',
        server=name[:60],
    )


def _format_command(command: str, arguments: Sequence[str]) -> str:
    """Return the command in one line. Values of options with sensitive names, as in `--token VALUE`, are masked."""
    from uraniborg.kernel.redaction import is_sensitive

    words = [quote(command)]
    is_secret = False
    for word in arguments:
        option, sign, value = word.partition("=")
        is_telling = is_sensitive(option.lstrip("-"))
        if is_secret and not _VARIABLE.fullmatch(word):
            words.append(MASK)
        elif sign and is_telling and not _VARIABLE.fullmatch(value):
            words.append(f"{quote(option)}={MASK}")
        else:
            words.append(quote(word))
        is_secret = is_telling and not sign and word.startswith("-")
    return " ".join(words)


def _expand_variables(name: str, value: Any, env: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _expand_variables(name, one, env) for key, one in cast("JsonObject", value).items()}
    if isinstance(value, list):
        return [_expand_variables(name, one, env) for one in cast("list[Any]", value)]
    if not isinstance(value, str):
        return value

    def look_up_variable(found: re.Match[str]) -> str:
        known, default = env.get(found[1]), cast("str | None", found[2])
        if default is not None and not known:  # as in a shell: also for a variable that is empty
            return default
        if known is None:
            raise InvalidServer(
                f"The MCP server '{name}' needs the environment variable {found[1]}, which is not set.",
                hint=f"Set it, or give a default: ${{{found[1]}:-…}}.",
                server=name,
                variable=found[1],
            )
        return known

    return _VARIABLE.sub(look_up_variable, value)


def _register_server_secrets(config: ServerConfig, plain: ServerEntry) -> None:
    """Mask values with sensitive names, or from variables with sensitive names, in all logs and errors."""
    from uraniborg.kernel.redaction import is_sensitive, register_secret

    secrets: list[str] = []
    env = config.plain.get("env", {}), plain.get("env", {})
    headers = config.plain.get("headers", {}), plain.get("headers", {})
    for written, texts in (env, headers):
        for name, value in texts.items():
            variables = [found[1] for found in _VARIABLE.finditer(written[name])]
            if any(map(is_sensitive, (name, *variables))):
                secrets.append(value)
    for secret in secrets:
        register_secret(secret)
