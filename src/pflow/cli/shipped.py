"""The example workflows that come with the package. They are files to look at and to copy, in nobody's library."""

from pathlib import Path
from typing import Any, Final

from pflow.errors import WorkflowNotFound
from pflow.ir.declarations import read_inputs
from pflow.library.document import read_document

FOLDER: Final = Path(__file__).resolve().parent.parent / "examples"


def shipped() -> list[dict[str, Any]]:
    """Each with its name, description and the names of its inputs."""
    found: list[dict[str, Any]] = []
    for path in sorted(FOLDER.glob("*.json")):
        document = read_document(path, path.name)
        inputs = list(read_inputs(document.ir.get("inputs"), []))
        found.append(
            {
                "name": path.stem,
                "description": document.description,
                "inputs": inputs,
            }
        )
    return found


def example_text(name: str) -> str:
    """The file as it is. Raises WorkflowNotFound."""
    names = [path.stem for path in sorted(FOLDER.glob("*.json"))]
    if name not in names:
        from pflow.ir.diagnostics import nearest

        meant = nearest(name[:80], names)
        raise WorkflowNotFound(
            f"There is no example '{name[:80]}'.",
            hint=f"Did you mean '{meant}'?" if meant else f"There are: {', '.join(names)}.",
            name=name[:80],
            available=names,
        )
    return (FOLDER / f"{name}.json").read_text(encoding="utf-8")
