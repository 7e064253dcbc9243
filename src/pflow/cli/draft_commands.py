"""Making drafts, and saving them."""

import sys
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from pflow.cli.app import Json, app, service
from pflow.cli.printing import BOLD, DIM, GREEN, YELLOW, Page, Painted, print_json, say, write
from pflow.errors import WorkflowExists, WorkflowNotFound
from pflow.ir.declarations import read_inputs
from pflow.library.document import read_document
from pflow.library.names import checked_name

_DRAFT: Final = """\
{
  "inputs": {
    "who": {"type": "string", "default": "world", "description": "Whom to greet; say what each input is for"}
  },
  "nodes": [
    {
      "id": "greet",
      "type": "echo",
      "purpose": "A node has an id, a type and params. ${who} stands for the input of this name.",
      "params": {"message": "Hello, ${who}!"}
    },
    {
      "id": "count",
      "type": "shell",
      "purpose": "${greet.echo} stands for what the node before gave. In a command it is one word, never code.",
      "params": {"command": "printf %s ${greet.echo} | wc -c"}
    }
  ],
  "edges": [
    {"from": "greet", "to": "count"}
  ],
  "outputs": {
    "greeting": {"source": "${greet.echo}", "description": "What it gives back"},
    "letters": {"source": "${count.stdout}", "description": "How long that is"}
  }
}
"""
FOLDER: Final = Path(__file__).resolve().parent.parent / "examples"


@app.command()
def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What to call the draft.")],
    json: Json = False,
) -> None:
    """Make a draft that explains itself.

    It runs as it is. Nothing is ever overwritten.
    """
    path = _make_draft(name, _DRAFT)
    if json:
        print_json({"name": name, "path": str(path)})
        return
    page = Page()
    page.line(Painted(GREEN, "✓ "), "Made the draft ", Painted(BOLD, name), Painted(DIM, f"  {path}"))
    page.line()
    page.table(
        [
            [f"pflow run {name} who=Ada", Painted(DIM, "run it; after a failure run it again, and it goes on")],
            [f"pflow check {name}", Painted(DIM, "all that is wrong with it, while you edit it")],
            ["pflow browse WORDS", Painted(DIM, "which nodes there are")],
            ["pflow guide", Painted(DIM, "how workflows are written")],
            [f"pflow save {name} NAME -d TEXT", Painted(DIM, "keep it in the library")],
        ],
        last="wrapped",
    )


def _make_draft(name: str, text: str) -> Path:
    """Raises WorkflowExists, SecurityError, LibraryUnwritable."""
    from pflow.cli.sources import place_of
    from pflow.errors import LibraryUnwritable
    from pflow.library.manager import WorkflowManager
    from uraniborg.kernel.files import AlreadyExists, create_exclusive, make_private_folder

    asked = service()
    drafts = WorkflowManager.for_drafts(asked.home)
    path, told = drafts.get_path(checked_name(name)), drafts.display_path(name)
    try:
        told = place_of(asked, name)[1]
    except WorkflowNotFound:
        try:
            make_private_folder(path.parent)
            create_exclusive(path, text)
        except OSError as exc:
            raise LibraryUnwritable(told, exc) from exc
        except AlreadyExists:  # since we looked
            pass
        else:
            return path
    raise WorkflowExists(
        f"There is a workflow '{name}' already: {told}. Nothing was changed.", hint="Choose another name.", name=name
    )


@app.command()
def save(
    draft: Annotated[str, typer.Argument(metavar="DRAFT", help="The draft.")],
    name: Annotated[str, typer.Argument(metavar="NAME", help="What to call it in the library.")],
    description: Annotated[str, typer.Option("--description", "-d", help="What it does, in a sentence.")],
    json: Json = False,
) -> None:
    """Move a draft to the library.

    Nothing is ever overwritten.
    """
    saved: dict[str, Any] = service().save(draft, name, description)
    if json:
        print_json(saved)
        return
    for warning in saved["warnings"]:
        say("warning", YELLOW, warning)
    Page().line(Painted(GREEN, "✓ "), "Saved ", Painted(BOLD, name), Painted(DIM, f"  {saved['path']}"))


@app.command()
def examples(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Print this one; list them if left out.")] = None,
    draft: Annotated[str | None, typer.Option("--as", metavar="DRAFT", help="Copy it as a draft of this name.")] = None,
    json: Json = False,
) -> None:
    """List examples, or begin a draft with one."""
    from pflow.cli.draft_commands import example_text, shipped
    from uraniborg.kernel.cli import UsageError

    if name is None:
        if draft is not None:
            raise UsageError("--as needs the name of an example.", hint="pflow examples NAME --as DRAFT")
        found = shipped()
        print_json({"examples": found}) if json else _tell_examples(found)
        return
    text = example_text(name)
    if draft is None:
        print_json({"name": name, "text": text}) if json else write(sys.stdout, text)
        return
    path = _make_draft(draft, text)
    told = f"Made the draft {draft} of the example {name}. Run it: pflow run {draft}"
    print_json({"name": draft, "path": str(path)}) if json else Page().line(Painted(GREEN, "✓ "), told)


def _tell_examples(found: list[dict[str, Any]]) -> None:
    page = Page()
    page.table([[Painted(BOLD, one["name"]), one["description"]] for one in found], indent=0, last="wrapped")
    page.line()
    page.line(Painted(DIM, "Begin a draft with one: pflow examples NAME --as DRAFT"))


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
