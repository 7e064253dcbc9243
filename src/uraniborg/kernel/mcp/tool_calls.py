"""Check the arguments of a tool call against the signature of its function; name the server that a call meant."""

import inspect
import math
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any, Final, cast

from mcp.server.fastmcp.utilities.func_metadata import func_metadata
from pydantic import BaseModel, ValidationError

from uraniborg.kernel.boundary import make_all_encodable
from uraniborg.kernel.errors import InvalidInput, make_invalid_input
from uraniborg.kernel.json_values import Json, JsonObject, JsonSchema

_SHOWN: Final = 80

AsyncFunction = Callable[..., Awaitable[Any]]
Hints = Mapping[str, str]
"""Hints of a server by patterns; a hint precedes the usual one if a wrong tool, argument or URI matches its pattern."""


def find_hint(name: str, hints: Hints) -> str:
    """Return the first hint whose pattern is found in `name`, and a space; an empty text if there is none."""
    found = (hint for pattern, hint in hints.items() if re.search(pattern, name[:_SHOWN], re.IGNORECASE))
    return next((f"{hint} " for hint in found), "")


class NotFinite(InvalidInput):
    """A number in the arguments of a call is NaN, infinite, or too large for a double."""

    def __init__(self, path: str) -> None:
        super().__init__(
            f"{path} is not a finite number.",
            hint="Send a finite number up to 1.8e308.",
            argument=re.split(r"[.\[]", path, maxsplit=1)[0],
            path=path,
        )


def find_nonfinite_path(arguments: Mapping[str, Any]) -> str | None:
    """Return the path of the first NaN or infinite number, such as `command.stars[2].mass`, or None."""
    return next(
        (path for name, value in arguments.items() for path in _iterate_nonfinite_paths(value, name[:_SHOWN])), None
    )


def _iterate_nonfinite_paths(value: Any, path: str) -> Iterator[str]:
    if isinstance(value, float):
        if not math.isfinite(value):
            yield path
    elif isinstance(value, list):
        for index, item in enumerate(cast("list[Any]", value)):
            yield from _iterate_nonfinite_paths(item, f"{path}[{index}]")
    elif isinstance(value, dict):
        for name, item in cast("JsonObject", value).items():
            yield from _iterate_nonfinite_paths(item, f"{path}.{name[:_SHOWN]}")


class Arguments:
    """The parameters of a function, and their schema. Errors name unknown arguments and never repeat values."""

    def __init__(self, function: AsyncFunction, name: str, hints: Hints | None = None) -> None:
        self._name = name
        self._hints = hints or {}
        self._metadata = func_metadata(function, structured_output=False)
        self._model = self._metadata.arg_model
        parameters = inspect.signature(function).parameters
        fields = self._model.model_fields.items()
        self._parameters = [(field, field if field in parameters else str(info.alias)) for field, info in fields]
        self.schema = cast("JsonSchema", self._model.model_json_schema(by_alias=True))
        self.schema["additionalProperties"] = False
        self._properties = self.schema.get("properties", {})
        for named in (self.schema, *self._properties.values()):
            named.pop("title", None)  # it repeats the name, and every agent pays for its tokens
        required = set(self.schema.get("required", []))
        self._without_null = {
            argument
            for argument, schema in self._properties.items()
            if argument not in required and not _accepts_null(schema)
        }
        self._numbers = {argument for argument, schema in self._properties.items() if _is_number(schema)}

    def validate(self, given: Mapping[str, Any]) -> dict[str, object]:
        """Return the keyword arguments to call the function with. Raise InvalidInput.

        null for an optional argument whose schema does not list null means the default.
        """
        if None in given.values():
            given = {
                name: value for name, value in given.items() if value is not None or name not in self._without_null
            }
        if not given.keys() <= self._properties.keys():
            raise self._make_unknown_error(sorted(given.keys() - self._properties.keys()))
        for name, value in given.items():
            # pydantic would accept true as 1.
            if isinstance(value, bool) and name in self._numbers:
                raise InvalidInput(
                    f"{name} must be a number, not true or false.", hint=self._format_usage(), argument=name
                )
        try:
            accepted = self._model.model_validate(given)
        except ValidationError as exc:
            accepted = self._parse_json_strings(given, exc)
        fields = vars(accepted)
        return {parameter: fields[field] for field, parameter in self._parameters}

    def _parse_json_strings(self, given: Mapping[str, Any], refused: ValidationError) -> BaseModel:
        """Parse strings that contain the JSON of an object or a list, which some clients send. Raise InvalidInput."""
        try:
            parsed = self._metadata.pre_parse_json(dict(given))
            if path := find_nonfinite_path(parsed):
                raise NotFinite(path)
            self._require_encodable(parsed)
            return self._model.model_validate(parsed)
        except (ValidationError, RecursionError):
            raise self._make_error(refused) from None

    def _require_encodable(self, parsed: Mapping[str, Any]) -> None:
        """Raise InvalidInput for JSON in a string with half a surrogate pair, which no message can have."""
        for name, value in parsed.items():
            if make_all_encodable(value) != value:
                raise InvalidInput(
                    f"The text of {name} has half of a surrogate pair.",
                    hint="Send whole characters: both halves of \\ud83d\\ude00, or the character itself.",
                    argument=name,
                )

    def _make_unknown_error(self, unknown: list[str]) -> InvalidInput:
        named = ", ".join(repr(name[:80]) for name in unknown[:5])
        return InvalidInput(
            f"{self._name} has no argument {named}.",
            hint=find_hint(unknown[0], self._hints) + self._format_usage(),
            argument=unknown[0][:80],
            allowed=list(self._properties),
        )

    def _make_error(self, exc: ValidationError) -> InvalidInput:
        error = make_invalid_input(exc, label=f"arguments of {self._name}")
        argument = str(exc.errors(include_input=False, include_url=False, include_context=False)[0]["loc"][0])
        allowed = _describe_allowed(self._properties.get(argument, {}))
        return InvalidInput(
            error.message,
            hint=find_hint(argument, self._hints) + self._format_usage(),
            argument=argument,
            **({"allowed": allowed} if allowed else {}),
            **error.ids,
        )

    def _format_usage(self) -> str:
        required = self.schema.get("required", [])
        named = [f"{name} (required)" if name in required else name for name in self._properties]
        return f"{self._name} takes {', '.join(named)}." if named else f"{self._name} takes no arguments."


def _is_number(schema: JsonSchema) -> bool:
    kinds = {str(alternative.get("type")) for alternative in schema.get("anyOf", [schema])}
    return bool(kinds & {"integer", "number"}) and kinds <= {"integer", "number", "null"}


def _accepts_null(schema: JsonSchema) -> bool:
    if alternatives := schema.get("anyOf"):
        return any(map(_accepts_null, alternatives))
    if "enum" in schema:
        return None in schema["enum"]
    return schema.get("type", "null") == "null" and "$ref" not in schema and "const" not in schema


def _describe_allowed(schema: JsonSchema) -> list[Json] | str:
    """Return the choices of a schema, or its bounds as text; an empty text if it has neither."""
    for part in (schema, *schema.get("anyOf", [])):
        if "enum" in part:
            return part["enum"]
        low, high = part.get("minimum", part.get("minLength")), part.get("maximum", part.get("maxLength"))
        unit = " characters" if part.get("type") == "string" else ""
        if low is not None and high is not None:
            return f"from {low:,} to {high:,}{unit}"
        if low is not None or high is not None:
            return f"at least {low:,}{unit}" if high is None else f"at most {high:,}{unit}"
    return []


TOOLS: Final = {
    "paper-search": ("search_papers", "decide", "export_results", "get_session"),
    "paper-library": (
        "search_papers",
        "search_papers_by_keyword",
        "list_top_facets",
        "get_paper_metadata",
        "get_paper_summary",
        "get_paper_source",
        "read_paper_section",
        "export_citations",
    ),
    "pflow": ("browse_components", "list_library", "describe_workflow", "execute", "save_to_library"),
    "universe": ("get_universe_state", "list_universe_commands", "send_universe_command"),
}
_SCHEMES: Final = {"paper-search": "paper-search", "paper": "paper-library", "universe": "universe"}
"""The server of the addresses that begin with a scheme."""


def find_tool_owner_hint(server: str, tool: str) -> str:
    """Return the sentence that names the other servers with this tool, and a space; an empty text without one."""
    owners = [name for name, tools in TOOLS.items() if tool in tools and name != server]
    if server not in TOOLS or not owners:
        return ""
    return f"{tool} is a tool of the {' and the '.join(owners)} server{'s' if len(owners) > 1 else ''}. "


def find_address_owner_hint(server: str, uri: str) -> str:
    """Return the sentence that names the other server with such addresses, and a space; an empty text without one."""
    scheme, _, rest = uri.partition("://")
    owner = _SCHEMES.get(scheme) if rest else None
    if server not in TOOLS or owner in (None, server):
        return ""
    return f"The {owner} server reads addresses that begin with {scheme}://. "
