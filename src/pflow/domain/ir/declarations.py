"""Read the declared inputs and outputs of a workflow, and the settings of a node: batch, retry and timeout."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, cast

from pflow.domain.diagnostics import CheckerDiagnostic, make_error, make_unknown_key_errors, make_warning
from pflow.domain.ir.model import BatchSettings, Input, Output, Retry
from pflow.domain.value_conversion import try_coerce_value
from uraniborg.kernel.language.messages import find_nearest_name
from uraniborg.kernel.redaction import is_sensitive

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import Json, JsonObject


NAME_RULE: Final = "a letter or `_`, then letters, digits, `_` or `-`, at most 100 characters"
_NAME: Final = re.compile(r"[^\W\d][\w-]{0,99}")
_TYPES: Final = {
    "string": "string",
    "str": "string",
    "text": "string",
    "number": "number",
    "float": "number",
    "integer": "integer",
    "int": "integer",
    "boolean": "boolean",
    "bool": "boolean",
    "object": "object",
    "dict": "object",
    "array": "array",
    "list": "array",
    "any": "any",
}
TYPES: Final = ("string", "number", "integer", "boolean", "object", "array", "any")
_INPUT_KEYS: Final = ("type", "required", "default", "description", "stdin", "secret")
_OUTPUT_KEYS: Final = ("source", "type", "description", "stdout")
_INPUT_EXAMPLE: Final["JsonObject"] = {"type": "string", "required": True, "description": "The purpose of this input"}
_OUTPUT_EXAMPLE: Final["JsonObject"] = {"source": "${node.output}", "description": "A description of this output"}


def is_valid_name(text: str) -> bool:
    """Return True if a template can refer to a value of this name."""
    return _NAME.fullmatch(text) is not None


def parse_declared_inputs(plain: Any, diagnostics: list[CheckerDiagnostic]) -> dict[str, Input]:
    inputs: dict[str, Input] = {}
    for name, declaration in _parse_declarations(plain, "inputs", _INPUT_EXAMPLE, diagnostics).items():
        path = f"inputs.{name}"
        diagnostics += make_unknown_key_errors(declaration, _INPUT_KEYS, "An input", path, _INPUT_EXAMPLE)
        kind = _parse_type(declaration, path, diagnostics)
        has_default = "default" in declaration
        required = declaration.get("required", not has_default) is not False
        diagnostics += [
            make_error("bad_declaration", f"{path}.{key}", f"`{key}` must be true or false.", example=True)
            for key in ("required", "stdin", "secret")
            if not isinstance(declaration.get(key, False), bool)
        ]
        if required and has_default:
            message = f"'{name}' is required but has a default, which is used if it is not given."
            diagnostics.append(
                make_warning("default_of_required", f"{path}.required", message, hint="Leave `required` out.")
            )
        if has_default and declaration["default"] is not None and not try_coerce_value(declaration["default"], kind)[1]:
            message = f"The default of '{name}' does not have its type, {kind}."
            diagnostics.append(make_error("bad_default", f"{path}.default", message))
        inputs[name] = Input(
            name=name,
            type=kind,
            required=required and not has_default,
            default=declaration.get("default"),
            has_default=has_default,
            description=str(declaration.get("description") or ""),
            stdin=declaration.get("stdin") is True,
            secret=declaration.get("secret") is True or (declaration.get("secret") is not False and is_sensitive(name)),
        )
    if len(asking := [name for name, one in inputs.items() if one.stdin]) > 1:
        message = f"Only one input can be read from stdin; these ask for it: {', '.join(asking)}."
        diagnostics.append(make_error("stdin_twice", f"inputs.{asking[1]}.stdin", message))
    return inputs


def parse_declared_outputs(plain: Any, diagnostics: list[CheckerDiagnostic]) -> dict[str, Output]:
    outputs: dict[str, Output] = {}
    for name, declaration in _parse_declarations(plain, "outputs", _OUTPUT_EXAMPLE, diagnostics).items():
        path = f"outputs.{name}"
        wrong_key = next((key for key in ("value", "from") if key in declaration and "source" not in declaration), None)
        if wrong_key:
            message = f"An output uses `source`, not `{wrong_key}`."
            diagnostics.append(
                make_error(
                    "no_source",
                    f"{path}.{wrong_key}",
                    message,
                    example={name: _make_output_example(declaration[wrong_key])},
                )
            )
            continue
        diagnostics += make_unknown_key_errors(declaration, _OUTPUT_KEYS, "An output", path, _OUTPUT_EXAMPLE)
        source = declaration.get("source")
        if not isinstance(source, str) or not source:
            message = "An output needs a `source`: a template with its value."
            diagnostics.append(make_error("no_source", f"{path}.source", message, example={name: _OUTPUT_EXAMPLE}))
            continue
        outputs[name] = Output(
            name=name,
            source=_normalize_source(source),
            type=_parse_type(declaration, path, diagnostics),
            description=str(declaration.get("description") or ""),
        )
    return outputs


def _normalize_source(source: str) -> str:
    """Return a source as a template: `node.key` and `$node.key` become `${node.key}`."""
    bare = source[1:] if source.startswith("$") and not source.startswith(("${", "$$")) else source
    return f"${{{bare}}}" if "${" not in bare and re.fullmatch(r"[^\W\d][\w-]*([.\[][\w.\[\]-]+)?", bare) else source


def _make_output_example(source: Any) -> "JsonObject":
    """Return an output for a source that was given alone or under another key."""
    return {"source": _normalize_source(source)} if isinstance(source, str) and source else _OUTPUT_EXAMPLE


def _parse_declarations(
    plain: Any, section: str, example: "JsonObject", diagnostics: list[CheckerDiagnostic]
) -> "dict[str, JsonObject]":
    """Return the declarations that are objects with valid names, and report the others."""
    if plain is None:
        return {}
    if not isinstance(plain, dict):
        message = f"`{section}` is an object of names and declarations."
        diagnostics.append(make_error("bad_declaration", section, message, example={"name": example}))
        return {}
    declarations: dict[str, JsonObject] = {}
    for name, declaration in cast("JsonObject", plain).items():
        if not is_valid_name(name):
            message = f"'{name[:80]}' is not a valid name for templates. Use {NAME_RULE}."
            diagnostics.append(
                make_error("bad_name", f"{section}.{name[:80]}", message, example={"repo_name": example})
            )
        elif not isinstance(declaration, dict):
            right = {name: _make_output_example(declaration)} if section == "outputs" else {name: example}
            message = f"'{name}' must be an object with its declaration."
            diagnostics.append(make_error("bad_declaration", f"{section}.{name}", message, example=right))
        else:
            declarations[name] = cast("JsonObject", declaration)
    return declarations


def _parse_type(declaration: "Mapping[str, Json]", path: str, diagnostics: list[CheckerDiagnostic]) -> str:
    given = declaration.get("type", "any")
    kind = _TYPES.get(given.lower()) if isinstance(given, str) else None
    if kind is None:
        message = f"'{str(given)[:40]}' is not a type."
        nearest = find_nearest_name(str(given)[:40].lower(), TYPES)
        diagnostics.append(
            make_error("bad_type", f"{path}.type", message, available=TYPES, nearest=nearest, example="string")
        )
    return kind or "any"


_BATCH_KEYS: Final = (
    "items",
    "as",
    "error_handling",
    "parallel",
    "max_concurrent",
    "max_retries",
    "retry_wait",
)
_RETRY_KEYS: Final = ("attempts", "max", "wait", "backoff")
_BATCH_EXAMPLE: Final = {"items": "${list.result}", "as": "item", "parallel": True, "max_concurrent": 10}
_MOST_ATTEMPTS: Final = 10
_MOST_AT_ONCE: Final = 100
_LONGEST_S: Final = 7 * 24 * 3600


def parse_batch(plain: Any, path: str, diagnostics: list[CheckerDiagnostic]) -> BatchSettings | None:
    if plain is None:
        return None
    setting = cast("JsonObject", plain) if isinstance(plain, dict) else {}
    if not isinstance(plain, dict) or "items" not in setting:
        message = "`batch` must be an object with `items`: a list, or a template for one."
        diagnostics.append(make_error("bad_batch", path, message, example=_BATCH_EXAMPLE))
        return None
    diagnostics += make_unknown_key_errors(setting, _BATCH_KEYS, "`batch`", path, _BATCH_EXAMPLE)
    items = setting["items"]
    if not isinstance(items, (list, str)) or (isinstance(items, str) and "${" not in items):
        message = "`items` must be a list, or a template for one."
        diagnostics.append(make_error("bad_batch", f"{path}.items", message, example=_BATCH_EXAMPLE["items"]))
    alias = setting.get("as", "item")
    if not isinstance(alias, str) or not is_valid_name(alias):
        diagnostics.append(
            make_error("bad_batch", f"{path}.as", "`as` must be the name of the item in templates.", example="item")
        )
        alias = "item"
    handling = setting.get("error_handling", "fail_fast")
    if handling not in ("fail_fast", "continue"):
        message = '`error_handling` is "fail_fast" or "continue".'
        diagnostics.append(
            make_error("bad_batch", f"{path}.error_handling", message, available=("fail_fast", "continue"))
        )
        handling = "fail_fast"
    if not isinstance(setting.get("parallel", False), bool):
        diagnostics.append(
            make_error("bad_batch", f"{path}.parallel", "`parallel` must be true or false.", example=True)
        )
    return BatchSettings(
        items=items,
        alias=alias,
        error_handling=handling,
        parallel=setting.get("parallel") is True,
        max_concurrent=_parse_whole_number(
            setting.get("max_concurrent", 10), 1, _MOST_AT_ONCE, f"{path}.max_concurrent", diagnostics
        ),
        retry=Retry(
            attempts=_parse_whole_number(
                setting.get("max_retries", 1), 1, _MOST_ATTEMPTS, f"{path}.max_retries", diagnostics
            ),
            wait=_parse_seconds(setting.get("retry_wait", 0), f"{path}.retry_wait", diagnostics) or 0.0,
        ),
    )


def parse_retry(plain: Any, path: str, diagnostics: list[CheckerDiagnostic]) -> Retry | None:
    if plain is None:
        return None
    if not isinstance(plain, dict):
        message = "`retry` must be an object with the number of attempts and the seconds to wait between them."
        diagnostics.append(
            make_error("bad_retry", path, message, example={"attempts": 3, "wait": 1, "backoff": "exponential"})
        )
        return None
    setting = cast("JsonObject", plain)
    diagnostics += make_unknown_key_errors(setting, _RETRY_KEYS, "`retry`", path, {"attempts": 3, "wait": 1})
    key = "max" if "max" in setting and "attempts" not in setting else "attempts"
    backoff = setting.get("backoff", "fixed")
    if backoff not in ("fixed", "exponential"):
        message = '`backoff` is "fixed" or "exponential".'
        diagnostics.append(make_error("bad_retry", f"{path}.backoff", message, available=("fixed", "exponential")))
        backoff = "fixed"
    return Retry(
        attempts=_parse_whole_number(setting.get(key, 3), 1, _MOST_ATTEMPTS, f"{path}.{key}", diagnostics),
        wait=_parse_seconds(setting.get("wait", 0), f"{path}.wait", diagnostics) or 0.0,
        backoff=backoff,
    )


def parse_timeout(plain: Any, path: str, diagnostics: list[CheckerDiagnostic]) -> float | None:
    if plain is None:
        return None
    seconds = _parse_seconds(plain, path, diagnostics)
    if seconds == 0:
        diagnostics.append(make_error("bad_number", path, "A timeout must be more than 0 seconds.", example=30))
    return seconds or None


def _parse_whole_number(value: Any, least: int, most: int, path: str, diagnostics: list[CheckerDiagnostic]) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        diagnostics.append(
            make_error("bad_number", path, f"This must be a whole number from {least} to {most}.", example=least)
        )
        return least
    return value


def _parse_seconds(value: Any, path: str, diagnostics: list[CheckerDiagnostic]) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= _LONGEST_S:
        diagnostics.append(
            make_error("bad_number", path, f"This must be a number of seconds from 0 to {_LONGEST_S:,}.", example=30)
        )
        return None
    return float(value)
