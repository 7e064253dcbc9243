"""Small workflows for the tests of the checker, and the node types that they use."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from pflow.domain.diagnostics import CheckerDiagnostic
from pflow.domain.ir.checker import CheckResult, Loader, check_workflow
from pflow.domain.ir.parser import parse_workflow
from pflow.domain.node_interface import Interface, OutputField, Param
from pflow.domain.search_ranking import make_document, rank_documents

Plain = dict[str, Any]

_COMMIT = {
    "sha": OutputField("sha", "str"),
    "author": OutputField("author", "dict", structure={"name": OutputField("name", "str")}),
}
INTERFACES = {
    one.type: one
    for one in (
        Interface(
            "echo",
            "Returns its message",
            "x:y",
            params={"message": Param("message", "any"), "count": Param("count", "int")},
            outputs={"echo": OutputField("echo", "str")},
            actions=("default",),
            example={"message": "Hello"},
        ),
        Interface(
            "shell",
            "Runs a command",
            "x:y",
            params={
                "command": Param("command", "str", required=True, description="What is run."),
                "stdin": Param("stdin", "any"),
                "timeout": Param("timeout", "float"),
                "env": Param("env", "dict"),
            },
            outputs={
                "stdout": OutputField("stdout", "str"),
                "stderr": OutputField("stderr", "str"),
                "exit_code": OutputField("exit_code", "int"),
            },
            example={"command": "ls"},
        ),
        Interface(
            "git-log",
            "Lists commits",
            "x:y",
            params={"limit": Param("limit", "int")},
            outputs={"commits": OutputField("commits", "list", structure=_COMMIT)},
        ),
        Interface("choose", "Answers with what it likes", "x:y", open_params=True, open_actions=True),
        Interface(
            "workflow",
            "Runs another workflow",
            "x:y",
            params={key: Param(key, "any") for key in ("workflow_name", "workflow_ref", "workflow_ir", "inputs")},
        ),
    )
}


class NodeTypes:
    """A registry in memory. It counts how often all of its types are asked for, and how often they are searched."""

    def __init__(self, interfaces: Mapping[str, Interface] = INTERFACES) -> None:
        self._interfaces = interfaces
        self.listed = 0
        self.searched = 0

    def get(self, type: str, /) -> Interface | None:  # noqa: A002 - what it is called everywhere
        return self._interfaces.get(type)

    def list_types(self) -> list[str]:
        self.listed += 1
        return sorted(self._interfaces)

    def find_similar_types(self, type: str, /) -> list[str]:  # noqa: A002 - what it is called everywhere
        self.searched += 1
        documents = [make_document(one.type, description=one.description) for one in self._interfaces.values()]
        return [hit.key for hit in rank_documents(type, documents) if hit.score > 0]


def echo(name: str, message: Any = "hi", **more: Any) -> Plain:
    return {"id": name, "type": "echo", "params": {"message": message}, **more}


def chain(*nodes: Plain, **more: Any) -> Plain:
    """Return a workflow of these nodes, each with an edge to the next."""
    ids = [node["id"] for node in nodes]
    edges = [{"from": before, "to": after} for before, after in pairwise(ids)]
    return {"nodes": list(nodes), "edges": edges, **more}


def check_document(document: Any, *, load: Loader | None = None, types: NodeTypes | None = None) -> CheckResult:
    return check_workflow(document, types or NodeTypes(), load=load)


def list_codes(found: CheckResult | Sequence[CheckerDiagnostic]) -> list[str]:
    return [one.code for one in (found.diagnostics if isinstance(found, CheckResult) else found)]


def find_only(found: CheckResult | Sequence[CheckerDiagnostic], code: str) -> CheckerDiagnostic:
    """Return the only diagnostic of this code."""
    problem = found.diagnostics if isinstance(found, CheckResult) else found
    (one,) = [diagnostic for diagnostic in problem if diagnostic.code == code]
    return one


def parse_diagnostics(document: Any) -> list[CheckerDiagnostic]:
    return parse_workflow(document)[1]


def nest_value(depth: int, bottom: Any = "x") -> Any:
    value = bottom
    for level in range(depth):
        value = [value] if level % 2 else {"k": value}
    return value
