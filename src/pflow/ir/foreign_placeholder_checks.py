"""Find placeholders of other languages, such as `{{name}}` and `$name`, where `${name}` was meant.

Such a text is used as it stands, so a mistake goes unnoticed until the effect has happened. The same text may be right:
`$name` belongs to the shell, `<title>` to HTML, `{{name}}` to Jinja. A placeholder is therefore reported only if the
node does not use `${name}` itself, and as an error only if nothing else in the workflow does.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, NamedTuple

from pflow.ir.code_template_checks import CODE_PARAMS
from pflow.ir.diagnostics import Diagnostic, Severity
from pflow.ir.model import Workflow
from pflow.ir.reference_checks import BATCH_OUTPUTS, get_document_path
from pflow.ir.template_uses import NESTED, TemplateUse, get_batch_aliases, iter_resolvable_texts
from pflow.registry.interface import Interface
from pflow.shortening import shorten_text
from pflow.templates.syntax import iter_references

Form = Literal["braces", "brace", "percent", "dollar", "angle"]

_PATH: Final = r"([^\W\d][\w-]*+(?:\.[\w-]++)*+)"
_FORMS: Final[tuple[tuple[Form, str, re.Pattern[str]], ...]] = (
    ("braces", "{{", re.compile(rf"(?<![${{])\{{\{{\s*+{_PATH}\s*+\}}\}}(?!\}})")),
    ("brace", "{", re.compile(rf"(?<![\w${{\\])\{{{_PATH}\}}(?!\}})")),
    ("percent", "%", re.compile(rf"(?<![\w%])%{_PATH}%(?![\w%])")),
    ("dollar", "$", re.compile(rf"(?<![\w$\\])\${_PATH}")),
    ("angle", "<", re.compile(rf"(?<![\w<])<{_PATH}>(?!>)")),
)
_UNCLOSED_TAGS: Final = {
    *("area", "base", "br", "col", "dd", "dt", "embed", "hr", "img", "input", "li", "link", "meta", "option", "p"),
    *("param", "source", "td", "th", "tr", "track", "wbr"),
}
"""Elements of HTML that need no end tag."""
_MOST: Final = 12
"""Placeholders of one text that are reported."""


class _Placeholder(NamedTuple):
    form: Form
    text: str
    root: str
    meant: str


def check_foreign_placeholders(
    workflow: Workflow, node_indexes: Mapping[str, int], interfaces: Mapping[str, Interface | None]
) -> list[Diagnostic]:
    """Return a diagnostic for each placeholder that was probably meant as a template."""
    checker = _PlaceholderChecker(workflow, interfaces)
    return [
        one
        for use in iter_resolvable_texts(workflow)
        for one in checker.check_text(use, get_document_path(use, node_indexes))
    ]


class _PlaceholderChecker:
    def __init__(self, workflow: Workflow, interfaces: Mapping[str, Interface | None]) -> None:
        self._workflow = workflow
        self._interfaces = interfaces
        self._used: dict[str | None, set[str]] = {}
        """The roots of the templates of each node, and under None of the outputs."""
        for use in iter_resolvable_texts(workflow):
            if "${" in use.text:
                roots = self._used.setdefault(use.node and use.node.id, set())
                roots.update(one.root for template in use.templates for one in iter_references(template))
        self._used_anywhere: set[str] = set().union(*self._used.values())
        self._is_static = not self._used_anywhere and not workflow.inputs

    def check_text(self, use: TemplateUse, path: str) -> Iterator[Diagnostic]:
        if use.node is not None and (use.node.type, use.path) in CODE_PARAMS:
            return
        seen: set[str] = set()
        for one in self._find_placeholders(use):
            severity = None if one.root in seen else self._choose_severity(use, one)
            if severity is None:
                continue
            seen.add(one.root)
            placeholder, template = shorten_text(one.text), f"${{{shorten_text(one.meant)}}}"
            message = f"`{placeholder}` is not a template and is not replaced. Write `{template}`."
            yield Diagnostic(
                severity,
                "foreign_placeholder",
                path,
                message,
                hint=self._suggest_fix(one, severity),
                example=template,
                node=use.node.id if use.node else None,
            )
            if len(seen) == _MOST:
                return

    def _find_placeholders(self, use: TemplateUse) -> Iterator[_Placeholder]:
        for form, mark, pattern in _FORMS:
            for found in pattern.finditer(use.text) if mark in use.text else ():
                root, dot, rest = found[1].partition(".")
                if form == "dollar" and not self._is_declared(use, root):
                    root, dot = root.partition("-")[0], ""  # `$name-2` is `$name` before a hyphen
                output = rest.partition(".")[0]
                if form == "dollar" and not (root in self._workflow.nodes and self._has_node_output(root, output)):
                    yield _Placeholder(form, f"${root}", root, root)  # `$name.txt` is `$name` before a dot
                else:
                    yield _Placeholder(form, found[0], root, root + dot + rest)

    def _choose_severity(self, use: TemplateUse, placeholder: _Placeholder) -> Severity | None:
        """Return the severity, or None for text that is probably right."""
        root = placeholder.root
        if root in self._used.get(use.node and use.node.id, ()) or _is_probably_intended(use, placeholder):
            return None
        if placeholder.form in ("brace", "percent"):
            return self._choose_severity_of_plain_text(use, placeholder)
        if root in self._workflow.inputs or root in get_batch_aliases(use):
            is_redirection = placeholder.form == "angle" and use.is_shell_command
            return "warning" if root in self._used_anywhere or is_redirection else "error"
        if root in self._workflow.nodes:
            if self._has_node_output(root, placeholder.meant.partition(".")[2].partition(".")[0]):
                return "error"
            return "warning" if placeholder.form == "braces" else None
        return "warning" if self._is_static and not use.is_shell_command and "\n" not in use.text else None

    def _choose_severity_of_plain_text(self, use: TemplateUse, placeholder: _Placeholder) -> Severity | None:
        """Return the severity of `{name}` or `%name%`, which is text unless nothing else uses the input or node."""
        root, output = placeholder.root, placeholder.meant.partition(".")[2].partition(".")[0]
        is_node_output = root in self._workflow.nodes and self._has_node_output(root, output)
        if root in self._used_anywhere or not (is_node_output or self._is_declared(use, root)):
            return None
        return None if root in self._workflow.nodes and not is_node_output else "error"

    def _is_declared(self, use: TemplateUse, name: str) -> bool:
        return name in self._workflow.inputs or name in self._workflow.nodes or name in get_batch_aliases(use)

    def _has_node_output(self, name: str, output: str) -> bool:
        node = self._workflow.nodes[name]
        interface = self._interfaces[node.type]
        if node.batch is not None:
            return output in BATCH_OUTPUTS
        return bool(output) and interface is not None and node.type != NESTED and output in interface.outputs

    def _suggest_fix(self, placeholder: _Placeholder, severity: Severity) -> str:
        if severity == "error" and placeholder.root in self._workflow.inputs:
            return f"If the text is right, remove the unused input '{placeholder.root}'."
        if placeholder.root in self._workflow.nodes or placeholder.root in self._workflow.inputs:
            return "If the text is right, rename the node or the input."
        return f'Declare the input: "inputs": {{"{shorten_text(placeholder.root)}": {{"type": "string"}}}}'


def _is_probably_intended(use: TemplateUse, placeholder: _Placeholder) -> bool:
    """Return True for a tag of HTML, and for a variable that the text, `env` or, by custom, the environment sets."""
    if placeholder.form == "angle":
        return f"</{placeholder.root}" in use.text or placeholder.root.lower() in _UNCLOSED_TAGS
    if placeholder.form in ("braces", "brace", "percent"):
        return False
    env: Any = use.node.params.get("env") if use.node and use.is_shell_command else None
    if use.is_shell_command and (placeholder.root.isupper() or (isinstance(env, dict) and placeholder.root in env)):
        return True
    word = re.escape(placeholder.root)
    assigned = rf"(?<![\w$-]){word}=" if use.is_shell_command else rf"(?<![\w-]){word}\s*+=(?!=)"
    others = rf"-v\s*+{word}=|\bfor\s++\$?{word}\b|\bread\b[^;|&\n]{{0,200}}\b{word}\b"
    return bool(re.search(rf"{assigned}|{others}|--(?:arg|argjson|slurpfile|rawfile)\s++{word}\b", use.text))
