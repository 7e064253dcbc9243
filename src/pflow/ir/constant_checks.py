"""Find constant parameters that would make a node fail or return nothing."""

import re
from typing import Any, Final

from pflow.ir.code_template_checks import CODE_PARAMS
from pflow.ir.coercion import try_coerce_value
from pflow.ir.diagnostics import Diagnostic, make_error, make_warning
from pflow.ir.model import Node
from pflow.ir.param_checks import shorten_and_mask_param
from pflow.ir.template_uses import has_template
from pflow.python_code import NO_RESULT, find_syntax_error, never_assigns
from pflow.registry.interface import Interface
from pflow.templates.syntax import find_templates

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


class ConstantChecker:
    """Checks constants of the nodes of one workflow, and parses a bounded amount of code."""

    def __init__(self) -> None:
        self._code_left = _MOST_CODE

    def check_constants(self, node: Node, interface: Interface, path: str) -> list[Diagnostic]:
        """Return the errors and warnings in the constants of a node at `path`."""
        found: Diagnostic | None = None
        if node.type in _PYTHON:
            found = self._check_python_code(node, f"{path}.params.{_PYTHON[node.type]}")
        elif node.type == _DELETE[0]:
            found = _check_delete_confirmed(node, interface, f"{path}.params.{_DELETE[1]}")
        elif node.type == _REQUEST[0]:
            found = _check_url(node, f"{path}.params.{_REQUEST[1]}")
        return [] if found is None else [found]

    def _check_python_code(self, node: Node, path: str) -> Diagnostic | None:
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


def _check_delete_confirmed(node: Node, interface: Interface, path: str) -> Diagnostic | None:
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


def _check_url(node: Node, path: str) -> Diagnostic | None:
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
