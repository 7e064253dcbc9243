"""Constants with which a node is bound to fail, or to give nothing: reported before anything runs."""

import re
from typing import Any, Final

from pflow.ir.code_templates import CODE
from pflow.ir.coercion import coerced
from pflow.ir.diagnostics import Diagnostic, error, warning
from pflow.ir.model import Node
from pflow.ir.param_checks import shown
from pflow.ir.template_uses import is_template
from pflow.python_code import NO_RESULT, find_syntax_error, never_assigns
from pflow.registry.interface import Interface
from pflow.templates.syntax import templates_in

_LONGEST_CODE: Final = 20_000
_MOST_CODE: Final = 200_000
"""In characters, for one node and for all: some code takes much longer to compile than it is long."""
_LINE: Final = 100
_PYTHON: Final = dict(CODE)
_DELETE: Final = ("delete-file", "confirm_delete")
_REQUEST: Final = ("http", "url")
_SCHEMES: Final = ("http://", "https://")
_URL: Final = re.compile(r"https?://[^/?#\s]", re.IGNORECASE)
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,19}(?=://)")


class Constants:
    """Looks at the nodes of one workflow, and no longer at their code than it is worth."""

    def __init__(self) -> None:
        self._code_left = _MOST_CODE

    def check(self, node: Node, interface: Interface, path: str) -> list[Diagnostic]:
        """What is wrong with a node at `path` whatever its templates will stand for."""
        found: Diagnostic | None = None
        if node.type in _PYTHON:
            found = self._check_code(node, f"{path}.params.{_PYTHON[node.type]}")
        elif node.type == _DELETE[0]:
            found = _check_confirmed(node, interface, f"{path}.params.{_DELETE[1]}")
        elif node.type == _REQUEST[0]:
            found = _check_url(node, f"{path}.params.{_REQUEST[1]}")
        return [] if found is None else [found]

    def _check_code(self, node: Node, path: str) -> Diagnostic | None:
        code: Any = node.params.get(_PYTHON[node.type])
        # A `${` that is not escaped is told of anyway.
        if not isinstance(code, str) or is_template(code.replace("$${", "")):
            return None
        if len(code) > min(_LONGEST_CODE, self._code_left):
            return None
        self._code_left -= len(code)
        code = code.replace("$${", "${")
        wrong = find_syntax_error(code)
        if wrong is None:
            # Code that only chooses an edge has its answer in `action`.
            is_without = never_assigns(code, "result", "action")
            return warning("no_result", path, f"'{node.id}': {NO_RESULT}", node=node.id) if is_without else None
        line = f" (line {wrong.lineno})" if wrong.lineno else ""
        text = shown("line", (wrong.text or "").strip()[:_LINE])
        message = f"The code of '{node.id}' is no Python: {wrong.msg}{line}."
        return error("bad_code", path, message, hint=f"It reads: {text}" if text else "", node=node.id)


def _check_confirmed(node: Node, interface: Interface, path: str) -> Diagnostic | None:
    key = _DELETE[1]
    given: Any = node.params.get(key)
    if key not in interface.params or is_template(given):
        return None
    made, fits = coerced(interface.params[key].default if given is None else given, "boolean")
    if made is True or not fits:
        return None
    example = {name: shown(name, value) for name, value in node.params.items() if name in interface.params}
    message = f"'{node.id}' deletes nothing unless `{key}` is true."
    return error("unconfirmed_delete", path, message, example={**example, key: True}, node=node.id)


def _check_url(node: Node, path: str) -> Diagnostic | None:
    url: Any = node.params.get(_REQUEST[1])
    if not isinstance(url, str):
        return None
    templates = templates_in(url)
    head = (url[: templates[0].start] if templates else url).lstrip()
    if "${" in head or (_begins_well(head) if templates else _URL.match(head)):
        return None
    scheme = _SCHEME.match(head)
    said = f"; it begins with {scheme[0]}://" if scheme and not _begins_well(head) else ""
    message = f"`url` of '{node.id}' must begin with http:// or https:// and a host{said}."
    return error("bad_url", path, message, example="https://example.org/data", node=node.id)


def _begins_well(head: str) -> bool:
    """Whether what comes after it can make it an address."""
    return any(head.lower().startswith(one) or one.startswith(head.lower()) for one in _SCHEMES)
