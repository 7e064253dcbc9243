"""Arguments of a call, checked against the signature of the function that takes them."""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast

from mcp.server.fastmcp.utilities.func_metadata import func_metadata
from pydantic import BaseModel, ValidationError

from uraniborg.kernel.errors import InvalidInput, invalid

AsyncFunction = Callable[..., Awaitable[Any]]


class Arguments:
    """What `function` takes, and its schema. Unknown names are refused, values are never repeated."""

    def __init__(self, function: AsyncFunction, name: str) -> None:
        self._name = name
        self._metadata = func_metadata(function, structured_output=False)
        self._model = self._metadata.arg_model
        taken = inspect.signature(function).parameters
        fields = self._model.model_fields.items()
        self._parameters = [(field, field if field in taken else str(info.alias)) for field, info in fields]
        self.schema: dict[str, Any] = self._model.model_json_schema(by_alias=True)
        self.schema["additionalProperties"] = False
        self._properties: dict[str, dict[str, Any]] = self.schema.get("properties", {})
        self._numbers = {argument for argument, schema in self._properties.items() if _is_number(schema)}

    def accept(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The keyword arguments to call the function with. Raises InvalidInput."""
        if not given.keys() <= self._properties.keys():
            raise self._unknown(sorted(given.keys() - self._properties.keys()))
        for name, value in given.items():
            # Left to itself pydantic takes true for 1.
            if isinstance(value, bool) and name in self._numbers:
                raise InvalidInput(f"{name} must be a number, not true or false.", hint=self._usage(), argument=name)
        try:
            accepted = self._model.model_validate(given)
        except ValidationError as exc:
            accepted = self._second_reading(given, exc)
        fields = vars(accepted)
        return {parameter: fields[field] for field, parameter in self._parameters}

    def _second_reading(self, given: Mapping[str, Any], refused: ValidationError) -> BaseModel:
        """Some clients send an object or a list as a string of JSON."""
        try:
            return self._model.model_validate(self._metadata.pre_parse_json(dict(given)))
        except (ValidationError, RecursionError):
            raise self._refused(refused) from None

    def _unknown(self, unknown: list[str]) -> InvalidInput:
        named = ", ".join(repr(name[:80]) for name in unknown[:5])
        return InvalidInput(
            f"{self._name} has no argument {named}.",
            hint=self._usage(),
            argument=unknown[0][:80],
            allowed=list(self._properties),
        )

    def _refused(self, exc: ValidationError) -> InvalidInput:
        error = invalid(exc, what=f"arguments of {self._name}")
        argument = str(exc.errors(include_input=False, include_url=False, include_context=False)[0]["loc"][0])
        allowed = _allowed(self._properties.get(argument, {}))
        return InvalidInput(
            error.message,
            hint=self._usage(),
            argument=argument,
            **({"allowed": allowed} if allowed else {}),
            **error.ids,
        )

    def _usage(self) -> str:
        required = self.schema.get("required", [])
        named = [f"{name} (required)" if name in required else name for name in self._properties]
        return f"{self._name} takes {', '.join(named)}." if named else f"{self._name} takes no arguments."


def _is_number(schema: dict[str, Any]) -> bool:
    alternatives = cast("list[dict[str, Any]]", schema.get("anyOf", [schema]))
    kinds = {alternative.get("type") for alternative in alternatives}
    return bool(kinds & {"integer", "number"}) and kinds <= {"integer", "number", "null"}


def _allowed(schema: dict[str, Any]) -> list[Any] | str:
    """What the schema lets pass: its choices, or its bounds in words; nothing if it has neither."""
    for part in (schema, *cast("list[dict[str, Any]]", schema.get("anyOf", []))):
        if "enum" in part:
            return part["enum"]
        low, high = part.get("minimum", part.get("minLength")), part.get("maximum", part.get("maxLength"))
        unit = " characters" if part.get("type") == "string" else ""
        if low is not None and high is not None:
            return f"from {low:,} to {high:,}{unit}"
        if low is not None or high is not None:
            return f"at least {low:,}{unit}" if high is None else f"at most {high:,}{unit}"
    return []
