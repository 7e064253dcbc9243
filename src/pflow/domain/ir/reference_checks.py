"""Check references in templates: what they name must exist. Find placeholders of other languages.

A placeholder of another language, such as `{{name}}` or `$name`, is used as it stands, so a mistake goes unnoticed
until the effect has happened. The same text may be right: `$name` belongs to the shell, `<title>` to HTML, `{{name}}`
to Jinja. A placeholder is therefore reported only if the node does not use `${name}` itself, and as an error only if
nothing else in the workflow does.
"""

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from pflow.domain.diagnostics import CheckerDiagnostic, Severity, make_error, make_warning, shorten_text
from pflow.domain.ir.code_checks import CODE_PARAMS, check_code_templates
from pflow.domain.ir.graph import Graph
from pflow.domain.ir.model import (
    INDEX,
    NESTED,
    TemplateOccurrence,
    Workflow,
    get_batch_aliases,
    iter_resolvable_texts,
    iter_template_uses,
)
from pflow.domain.node_interface import Interface
from pflow.domain.template_references import TemplateReference, iter_references
from uraniborg.kernel.language.messages import find_nearest_name

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import JsonObject


_NAMED: Final = 12
_SHOWN: Final = 20
_INPUT_ROOTS: Final = ("inputs", "input", "params", "args", "vars")
"""The roots that other languages put before the name of an input."""
_DOUBLE_BRACES: Final = re.compile(rf"\$\{{\{{\s*(?:(?:{'|'.join(_INPUT_ROOTS)})\.)?(?P<path>[^\W\d][\w.-]*)\s*\}}\}}")
BATCH_OUTPUTS: Final = ("results", "count", "success_count", "error_count", "errors", "batch_metadata")


def check_references(
    workflow: Workflow, graph: Graph, node_indexes: Mapping[str, int], interfaces: Mapping[str, Interface | None]
) -> list[CheckerDiagnostic]:
    """Return diagnostics for the templates. `interfaces` are by type, `node_indexes` by id."""
    found: list[CheckerDiagnostic] = []
    checker = _ReferenceChecker(workflow, graph, interfaces)
    for use in iter_template_uses(workflow):
        path = get_document_path(use, node_indexes)
        found += _check_malformed_templates(use, path)
        found += check_code_templates(use, path)
        checked: set[TemplateReference] = set()
        # Equal templates share their choices, so one of them is enough.
        for template in {id(one.choices): one for one in use.templates}.values():
            for reference in iter_references(template):
                if reference not in checked:
                    checked.add(reference)
                    found += checker.check_reference(use, reference, path)
    found += checker.make_unused_input_warnings()
    return found


def _check_malformed_templates(use: TemplateOccurrence, path: str) -> list[CheckerDiagnostic]:
    usual = "Write `${name}` or `${node.output}`; write `$${` for a literal `${`."
    node = use.node.id if use.node else None
    positions = use.find_malformed_positions()
    found: list[CheckerDiagnostic] = []
    for at in positions[:_NAMED]:
        message = f"This is not a complete template: `{use.text[at : at + 30]}`"
        braces = _DOUBLE_BRACES.match(use.text, at)
        hint = f"Write `${{{shorten_text(braces['path'])}}}`. {usual}" if braces else usual
        found.append(make_error("malformed_template", path, message, hint=hint, node=node))
    if len(positions) > _NAMED:
        message = f"There are {len(positions) - _NAMED:,} more `${{` that do not begin a template."
        found.append(make_error("malformed_template", path, message, hint=usual, node=node))
    return found


def get_document_path(use: TemplateOccurrence, node_indexes: Mapping[str, int]) -> str:
    """Return the path of a text in the document of its workflow."""
    if use.node is None:
        return f"outputs.{use.path}.source"
    inner_path = use.path if use.path.startswith("batch.") else f"params.{use.path}"
    return f"nodes[{node_indexes[use.node.id]}].{inner_path}"


class _ReferenceChecker:
    """Checks references against the inputs and the earlier nodes of a workflow."""

    def __init__(self, workflow: Workflow, graph: Graph, interfaces: Mapping[str, Interface | None]) -> None:
        self._workflow = workflow
        self._interfaces = interfaces
        self._order = graph.sort_acyclic_nodes()
        self._bits = {node: 1 << place for place, node in enumerate(self._order)}
        self._above = graph.compute_ancestor_masks()
        self._names = (*workflow.inputs, *workflow.nodes)
        self._used: set[str] = set()

    def check_reference(
        self, use: TemplateOccurrence, reference: TemplateReference, path: str
    ) -> list[CheckerDiagnostic]:
        root = reference.root
        if root in get_batch_aliases(use):
            return []
        if root in self._workflow.nodes:
            return self._check_node_reference(use, reference, path)
        self._used.add(root)
        if root in self._workflow.inputs:
            return []
        names = (*aliases, *self._names) if (aliases := get_batch_aliases(use)) else self._names
        nearest = find_nearest_name(root, names)
        meant = reference.text.replace(root, nearest, 1) if nearest else None
        if root in _INPUT_ROOTS and reference.steps and reference.steps[0] in self._names:
            nearest, meant = str(reference.steps[0]), reference.text.removeprefix(f"{root}.")
        example = f"${{{shorten_text(meant)}}}" if meant else None
        more: dict[str, object] = {"available": names[:_SHOWN], "nearest": nearest, "example": example}
        node = use.node.id if use.node else None
        if reference.steps and isinstance(reference.steps[0], str):
            shown, name = shorten_text(reference.text), shorten_text(root)
            message = f"In `${{{shown}}}`, '{name}' is neither a declared input nor a node."
            hint = _make_batch_only_hint(use, root) or (
                f"Write `{example}`."
                if example
                else f'Name an earlier node, or declare it: "inputs": {{"{name}": {{"type": "object"}}}}'
            )
            return [make_error("unknown_root", path, message, hint=hint, node=node, **more)]
        message = f"`${{{shorten_text(reference.text)}}}` is neither a declared input nor the output of a node."
        hint = (
            f'It can be given with `inputs`. To declare it: "inputs": {{"{shorten_text(root)}": {{"type": "string"}}}}'
        )
        if use.is_shell_command and root.isupper():
            hint = f"If it is meant for the shell, write ${root}, or `$${{{shorten_text(root)}}}`."
        hint = _make_batch_only_hint(use, root) or hint
        return [make_warning("undeclared_variable", path, message, hint=hint, node=node, **more)]

    def make_unused_input_warnings(self) -> list[CheckerDiagnostic]:
        return [
            make_warning("unused_input", f"inputs.{name}", f"The input '{name}' is not used.")
            for name in self._workflow.inputs
            if name not in self._used
        ]

    def _check_node_reference(
        self, use: TemplateOccurrence, reference: TemplateReference, path: str
    ) -> list[CheckerDiagnostic]:
        root = reference.root
        if use.node is not None and not self._runs_before(root, use.node.id):
            message = (
                f"`${{{shorten_text(reference.text)}}}` refers to the node itself."
                if root == use.node.id
                else f"`${{{shorten_text(reference.text)}}}` refers to a node that does not run before '{use.node.id}'."
            )
            before = self._list_earlier_nodes(use.node.id)
            example = {"from": root, "to": use.node.id} if root != use.node.id else None
            hint = "Use an output of a node that leads here, or add an edge."
            return [
                make_error("not_before", path, message, hint=hint, available=before, example=example, node=use.node.id)
            ]
        return self._check_referenced_output(use, reference, path)

    def _runs_before(self, earlier: str, later: str) -> bool:
        """Return whether one node runs before another; True for nodes of a cycle, which is reported separately."""
        if earlier not in self._bits or later not in self._bits:
            return earlier != later
        return bool(self._above[later] & self._bits[earlier])

    def _list_earlier_nodes(self, later: str) -> tuple[str, ...]:
        """Return the nodes that lead to a node, the last first."""
        mask = self._above.get(later, 0)
        names: list[str] = []
        while mask and len(names) < _SHOWN:
            index = mask.bit_length() - 1
            names.append(self._order[index])
            mask ^= 1 << index
        return tuple(names)

    def _check_referenced_output(
        self, use: TemplateOccurrence, reference: TemplateReference, path: str
    ) -> list[CheckerDiagnostic]:
        source = self._workflow.nodes[reference.root]
        interface = self._interfaces[source.type]
        if interface is None or not reference.steps or source.type == NESTED:
            return []
        outputs: JsonObject = dict.fromkeys(BATCH_OUTPUTS) if source.batch else dict(interface.outputs)
        if not outputs:
            return []
        key = reference.steps[0]
        if isinstance(key, TemplateReference):
            return []
        if key in outputs or key == "error":
            return self._check_output_fields(use, reference, path, outputs.get(str(key)))
        names = tuple(f"${{{source.id}.{name}}}" for name in outputs)
        nearest = find_nearest_name(str(key), outputs)
        kind = f"{source.type}, as a batch" if source.batch else source.type
        return [
            make_error(
                "unknown_output",
                path,
                f"'{source.id}' ({kind}) has no output `{shorten_text(str(key))}`.",
                available=names,
                nearest=nearest,
                example=f"${{{source.id}.{nearest}}}" if nearest else names[0],
                node=use.node.id if use.node else None,
            )
        ]

    def _check_output_fields(
        self, use: TemplateOccurrence, reference: TemplateReference, path: str, output_field: Any
    ) -> list[CheckerDiagnostic]:
        """Return an error if a reference leads to a field that the declared structure of an output does not have."""
        prefix = f"{reference.root}.{reference.steps[0]}"
        for step in reference.steps[1:]:
            if output_field is None or output_field.structure is None:
                return []
            if isinstance(step, (int, TemplateReference)):
                prefix += f"[{step if isinstance(step, int) else f'${{{step.text}}}'}]"
                continue
            if step not in output_field.structure:
                names = tuple(f"${{{prefix}.{name}}}" for name in output_field.structure)
                nearest = find_nearest_name(step, output_field.structure)
                message = f"There is no `{shorten_text(step)}` in `{prefix}`."
                example = f"${{{prefix}.{nearest}}}" if nearest else None
                node = use.node.id if use.node else None
                more = {"available": names, "nearest": nearest, "example": example, "node": node}
                return [make_warning("unknown_field", path, message, **more)]
            output_field = output_field.structure[step]
            prefix += f".{step}"
        return []


def _make_batch_only_hint(use: TemplateOccurrence, root: str) -> str:
    """Return a hint for the names that exist in a node with `batch` only."""
    is_item = root == INDEX or (root == "item" and (use.node is None or use.node.batch is None))
    return "It exists only in a node with `batch`." if is_item else ""


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
) -> list[CheckerDiagnostic]:
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

    def check_text(self, use: TemplateOccurrence, path: str) -> Iterator[CheckerDiagnostic]:
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
            yield CheckerDiagnostic(
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

    def _find_placeholders(self, use: TemplateOccurrence) -> Iterator[_Placeholder]:
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

    def _choose_severity(self, use: TemplateOccurrence, placeholder: _Placeholder) -> Severity | None:
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

    def _choose_severity_of_plain_text(self, use: TemplateOccurrence, placeholder: _Placeholder) -> Severity | None:
        """Return the severity of `{name}` or `%name%`, which is text unless nothing else uses the input or node."""
        root, output = placeholder.root, placeholder.meant.partition(".")[2].partition(".")[0]
        is_node_output = root in self._workflow.nodes and self._has_node_output(root, output)
        if root in self._used_anywhere or not (is_node_output or self._is_declared(use, root)):
            return None
        return None if root in self._workflow.nodes and not is_node_output else "error"

    def _is_declared(self, use: TemplateOccurrence, name: str) -> bool:
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


def _is_probably_intended(use: TemplateOccurrence, placeholder: _Placeholder) -> bool:
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
