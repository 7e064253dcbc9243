"""Check nodes against the interfaces of their types: parameters, constants, and the actions on their edges."""

import re
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, cast

from pflow.domain.diagnostics import CheckerDiagnostic, make_error, make_warning
from pflow.domain.ir.code_checks import CODE_PARAMS
from pflow.domain.ir.model import DEFAULT_ACTION, ERROR_ACTION, Edge, Node, has_template
from pflow.domain.ir.python_code import NO_RESULT, find_syntax_error, never_assigns
from pflow.domain.node_interface import Interface, Param
from pflow.domain.template_references import find_templates
from pflow.domain.value_conversion import can_coerce_param, try_coerce_param, try_coerce_value
from uraniborg.kernel.language.messages import find_nearest_name

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import JsonObject


_SHOWN: Final = 20
_LONGEST: Final = 200
_TEMPLATE: Final = re.compile(r"\$\{[^{}]*\}")
_SAMPLES: Final["JsonObject"] = {"int": 1, "float": 1.0, "bool": True, "dict": {}, "list": []}
_LONGEST_CODE: Final = 20_000
_MOST_CODE: Final = 200_000
"""In characters, for one node and for all: some code takes much longer to compile than it is long."""
_LINE: Final = 100
_PYTHON: Final = dict(CODE_PARAMS)
_DELETE: Final = ("delete-file", "confirm_delete")
_REQUEST: Final = ("http", "url")
_SCHEMES: Final = ("http://", "https://")
_URL: Final = re.compile(r"https?://[^/?#\s]", re.IGNORECASE)
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,19}(?=://)")


def check_params(node: Node, interface: Interface, path: str) -> list[CheckerDiagnostic]:
    """Return the errors and warnings in the parameters of a node at `path`."""
    declared = interface.params
    missing = [
        one.key
        for one in declared.values()
        if one.required and node.params.get(one.key) is None and not one.key.startswith("__")
    ]
    unknown = [] if interface.open_params else [key for key in node.params if key not in declared]
    wrong_keys = {
        key for key, value in node.params.items() if key in declared and not _is_acceptable_value(value, declared[key])
    }
    if not (missing or unknown or wrong_keys):
        return []
    guesses = {key: _guess_intended_param(key, missing, unknown, declared) for key in unknown}
    more = {"example": _correct_params(node, interface, missing, guesses, wrong_keys), "node": node.id}
    found: list[CheckerDiagnostic] = []
    for key in missing:
        message = f"'{node.id}' needs the parameter `{key}`: {declared[key].description or declared[key].type}"
        found.append(make_error("missing_param", f"{path}.params.{key}", message, **more))
    for key in node.params:
        param_path = f"{path}.params.{key[:80]}"
        if key in guesses:
            found.append(
                _make_unknown_param_diagnostic(node, interface, key, param_path, {"nearest": guesses[key], **more})
            )
        elif key in wrong_keys:
            found.append(_make_wrong_param_error(node, declared[key], param_path, more))
    return found


def shorten_and_mask_param(key: str, value: Any) -> Any:
    """Return a parameter for a message: shortened, and without secrets."""
    if isinstance(value, str) and len(value) > _LONGEST:
        value = f"{value[:_LONGEST]}…"
    if isinstance(value, str) and _TEMPLATE.fullmatch(value):
        return value
    if isinstance(value, (dict, list)) and len(repr(cast("object", value))) > _LONGEST:
        return "…"
    from pflow.domain.redaction import Secrets

    return Secrets().mask({key: value})[key]


def _is_acceptable_value(value: Any, param: Param) -> bool:
    if value is None or has_template(value):
        return True
    return can_coerce_param(value, param.type) and (
        not param.choices or _is_allowed_choice(try_coerce_param(value, param.type)[0], param)
    )


def _is_allowed_choice(value: Any, param: Param) -> bool:
    """Return whether the value is a choice; True does not equal 1 here."""
    return any(one == value and isinstance(one, bool) == isinstance(value, bool) for one in param.choices)


def _guess_intended_param(
    key: str, missing: list[str], unknown: list[str], declared: Mapping[str, Param]
) -> str | None:
    """Return the parameter that was probably meant: a single missing one, else the nearest."""
    return missing[0] if len(missing) == len(unknown) == 1 else find_nearest_name(key, tuple(declared))


def _make_unknown_param_diagnostic(
    node: Node, interface: Interface, key: str, path: str, more: Mapping[str, object]
) -> CheckerDiagnostic:
    is_sent = interface.source == "mcp"
    outcome = "and its server refuses unknown parameters" if is_sent else "so it is ignored"
    message = f"The type '{node.type}' has no parameter `{key[:80]}`, {outcome}."
    return (make_error if is_sent else make_warning)(
        "unknown_param", path, message, available=tuple(interface.params), **more
    )


def _make_wrong_param_error(node: Node, param: Param, path: str, more: Mapping[str, object]) -> CheckerDiagnostic:
    value = node.params[param.key]
    if not can_coerce_param(value, param.type):
        message = f"`{param.key}` of '{node.id}' must be {param.type.replace('|', ' or ')}."
        return make_error("bad_param", path, message, **more)
    choices = tuple(map(str, param.choices))
    message = f"`{param.key}` of '{node.id}' must be one of {', '.join(choices[:_SHOWN])}."
    return make_error(
        "bad_choice", path, message, available=choices, nearest=find_nearest_name(str(value), choices), **more
    )


def _correct_params(
    node: Node, interface: Interface, missing: list[str], guesses: Mapping[str, str | None], wrong_keys: set[str]
) -> "JsonObject":
    """Return the corrected parameters of a node: misspelt names fixed, missing values added, wrong values replaced."""
    made: JsonObject = {}
    for key, value in islice(node.params.items(), _SHOWN):
        name = guesses.get(key, key)
        if key in wrong_keys:
            made[key] = _suggest_value(interface.params[key], value, interface)
        elif name is not None and (name == key or (node.params.get(name) is None and name not in made)):
            made[name] = shorten_and_mask_param(name, value)
    for key in missing:
        if made.get(key) is None:
            made[key] = _suggest_value(interface.params[key], None, interface)
    return made


def _suggest_value(param: Param, value: Any, interface: Interface) -> Any:
    """Return a valid value for a parameter, as near to the given value as possible."""
    if param.choices:
        nearest = find_nearest_name(str(value), tuple(map(str, param.choices)))
        return next((one for one in param.choices if str(one) == nearest), param.choices[0])
    if param.key in interface.example:
        return interface.example[param.key]
    return param.default if param.default is not None else _SAMPLES.get(param.type.partition("|")[0], "text")


class ConstantChecker:
    """Checks constants of the nodes of one workflow, and parses a bounded amount of code."""

    def __init__(self) -> None:
        self._code_left = _MOST_CODE

    def check_constants(self, node: Node, interface: Interface, path: str) -> list[CheckerDiagnostic]:
        """Return the errors and warnings in the constants of a node at `path`."""
        found: CheckerDiagnostic | None = None
        if node.type in _PYTHON:
            found = self._check_python_code(node, f"{path}.params.{_PYTHON[node.type]}")
        elif node.type == _DELETE[0]:
            found = _check_delete_confirmed(node, interface, f"{path}.params.{_DELETE[1]}")
        elif node.type == _REQUEST[0]:
            found = _check_url(node, f"{path}.params.{_REQUEST[1]}")
        return [] if found is None else [found]

    def _check_python_code(self, node: Node, path: str) -> CheckerDiagnostic | None:
        code: Any = node.params.get(_PYTHON[node.type])
        # `check_code_templates` reports a `${` that is not escaped.
        if not isinstance(code, str) or has_template(code.replace("$${", "")):
            return None
        if len(code) > min(_LONGEST_CODE, self._code_left):
            return None
        self._code_left -= len(code)
        code = code.replace("$${", "${")
        syntax_error = find_syntax_error(code)
        if syntax_error is None:
            # Code that only chooses an edge has its answer in `action`.
            is_without = never_assigns(code, "result", "action")
            return make_warning("no_result", path, f"'{node.id}': {NO_RESULT}", node=node.id) if is_without else None
        line = f" (line {syntax_error.lineno})" if syntax_error.lineno else ""
        text = shorten_and_mask_param("line", (syntax_error.text or "").strip()[:_LINE])
        message = f"The code of '{node.id}' is not valid Python: {syntax_error.msg}{line}."
        hint = f"It reads: {text}" if text else ""
        if "outside function" in syntax_error.msg:
            hint = f"Set `result` instead of `return`, such as `result = 1 + 1`. {hint}".strip()
        return make_error("bad_code", path, message, hint=hint, node=node.id)


def _check_delete_confirmed(node: Node, interface: Interface, path: str) -> CheckerDiagnostic | None:
    key = _DELETE[1]
    given: Any = node.params.get(key)
    if key not in interface.params or has_template(given):
        return None
    made, fits = try_coerce_value(interface.params[key].default if given is None else given, "boolean")
    if made is True or not fits:
        return None
    example = {
        name: shorten_and_mask_param(name, value) for name, value in node.params.items() if name in interface.params
    }
    message = f"'{node.id}' deletes nothing unless `{key}` is true."
    return make_error("unconfirmed_delete", path, message, example={**example, key: True}, node=node.id)


def _check_url(node: Node, path: str) -> CheckerDiagnostic | None:
    url: Any = node.params.get(_REQUEST[1])
    if not isinstance(url, str):
        return None
    templates = find_templates(url)
    head = (url[: templates[0].start] if templates else url).lstrip()
    if "${" in head or (_can_become_http_url(head) if templates else _URL.match(head)):
        return None
    scheme = _SCHEME.match(head)
    found_scheme = f"; it begins with {scheme[0]}://" if scheme and not _can_become_http_url(head) else ""
    message = f"`url` of '{node.id}' must begin with http:// or https:// and a host{found_scheme}."
    return make_error("bad_url", path, message, example="https://example.org/data", node=node.id)


def _can_become_http_url(head: str) -> bool:
    """Return whether the text before a template can become an http address."""
    return any(head.lower().startswith(one) or one.startswith(head.lower()) for one in _SCHEMES)


APPROVAL: Final = "approval"
REJECTED: Final = "rejected"
_ON_REJECT: Final = "on_reject"
_BRANCH: Final = "branch"


def check_actions(
    node: Node, interface: Interface, leaving_edges: Iterable[Edge], get_edge_index: Callable[[Edge], int]
) -> list[CheckerDiagnostic]:
    """Return a diagnostic for each action of an edge that the node never returns.

    After an approval it is an error, because the decision of a person would be ignored. After other nodes it is a
    warning. `get_edge_index` gives the index of an edge in the file.
    """
    is_approval = node.type == APPROVAL
    if interface.open_actions or (node.batch is not None and not is_approval):
        return []
    known = _list_approval_actions(node) if is_approval else tuple(dict.fromkeys([*interface.actions, ERROR_ACTION]))
    unknown: dict[str, int] = {}
    for edge in leaving_edges:
        if edge.action not in known:
            unknown.setdefault(edge.action, get_edge_index(edge))
    return [
        (make_error if is_approval else make_warning)(
            "unknown_action",
            f"edges[{index}].action",
            f"'{node.id}' never returns the action '{action[:80]}', so these edges are never followed.",
            available=known if is_approval else interface.actions,
            nearest=find_nearest_name(action, known),
            node=node.id,
            **(_make_hint_and_example(node, action) if is_approval else {}),
        )
        for action, index in sorted(unknown.items())
    ]


def _list_approval_actions(node: Node) -> tuple[str, ...]:
    """Return the actions of an approval: a batch joins the decisions, and only `branch` follows a rejection."""
    branches = node.params.get(_ON_REJECT)
    if node.batch is None and (branches == _BRANCH or has_template(branches)):
        return (DEFAULT_ACTION, REJECTED, ERROR_ACTION)
    return (DEFAULT_ACTION, ERROR_ACTION)


def _make_hint_and_example(node: Node, action: str) -> "JsonObject":
    if node.batch is not None:
        return {"hint": "A batch follows `default`, or `error` if an item fails. Use the decisions in `results`."}
    question: Any = node.params.get("question") or "Send it?"
    if action == REJECTED:
        hint = f'A rejection fails the run unless the node has `"{_ON_REJECT}": "{_BRANCH}"`.'
        return {"hint": hint, "example": {"question": question, _ON_REJECT: _BRANCH}}
    return {"hint": f"Approved is `{DEFAULT_ACTION}`; rejected is `{REJECTED}` if `{_ON_REJECT}` is `{_BRANCH}`."}
