"""Find workflows whose text mentions something, such as the identifier of a paper."""

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from pflow.errors import InvalidWorkflow, SecurityError, WorkflowNotFound
from pflow.library.listing import Source, list_workflows
from pflow.library.workflow_file import read_document

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import Json, JsonObject

_SHORTEST: Final = 4
"""Shorter texts would be found everywhere."""
_MOST_NODES: Final = 50


class Mention(NamedTuple):
    """A workflow that mentions a text, and the ids of its nodes that do."""

    name: str
    source: Source
    nodes: list[str]


def find_mentions(home: Path, texts: Iterable[str]) -> list[Mention]:
    """Return the saved workflows and drafts that contain one of the texts as a whole word, ignoring case.

    Files that cannot be read are left out.
    """
    wanted = sorted({text for text in texts if len(text) >= _SHORTEST}, key=len, reverse=True)
    if not wanted:
        return []
    # An arXiv id may have a version behind it.
    pattern = re.compile(rf"(?<![\w.])(?:{'|'.join(map(re.escape, wanted))})(?:v\d{{1,3}})?(?!\w)", re.IGNORECASE)
    found: list[Mention] = []
    for summary in list_workflows(home).workflows:
        try:
            document = read_document(home / summary.path, summary.path).ir
        except (FileNotFoundError, InvalidWorkflow, SecurityError, WorkflowNotFound):
            continue
        if pattern.search(_write(document)):
            found.append(Mention(summary.name, summary.source, _list_nodes(document, pattern)))
    return found


def _list_nodes(document: "Mapping[str, Json]", pattern: re.Pattern[str]) -> list[str]:
    listed = document.get("nodes")
    nodes = cast("list[Any]", listed) if isinstance(listed, list) else []
    ids = [_get_id(node) for node in nodes if pattern.search(_write(node))]
    return [name for name in ids if name][:_MOST_NODES]


def _get_id(node: Any) -> str:
    name = cast("JsonObject", node).get("id") if isinstance(node, dict) else None
    return name if isinstance(name, str) else ""


def _write(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
