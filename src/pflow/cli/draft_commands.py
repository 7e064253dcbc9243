"""Commands for drafts and examples: new, save, examples."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from pflow.cli.app import app, open_service_with_usable_home
from pflow.domain.ir.declarations import parse_declared_inputs
from pflow.errors import WorkflowExists, WorkflowNotFound
from pflow.store.workflow_file import read_document, validate_name
from uraniborg.kernel.actors import get_terminal_actor
from uraniborg.kernel.terminal.output_streams import print_json, write_text
from uraniborg.kernel.terminal.page import Page, print_stderr_message
from uraniborg.kernel.terminal.styled_text import BOLD, DIM, GREEN, YELLOW, StyledText
from uraniborg.kernel.terminal.typer_app import JsonOption

if TYPE_CHECKING:
    from pflow.service.workflow_replies import ExampleSummary

_DRAFT_TEMPLATE: Final = """\
{
  "inputs": {
    "who": {"type": "string", "default": "world", "description": "The person to greet; describe each input"}
  },
  "nodes": [
    {
      "id": "greet",
      "type": "echo",
      "purpose": "A node has an id, a type and params. ${who} is the value of this input.",
      "params": {"message": "Hello, ${who}!"}
    },
    {
      "id": "count",
      "type": "shell",
      "purpose": "${greet.echo} is the output of the node before. In a command it is one word, never code.",
      "params": {"command": "printf %s ${greet.echo} | wc -c"}
    }
  ],
  "edges": [
    {"from": "greet", "to": "count"}
  ],
  "outputs": {
    "greeting": {"source": "${greet.echo}", "description": "The greeting"},
    "letters": {"source": "${count.stdout}", "description": "Its length"}
  }
}
"""
EXAMPLES_FOLDER: Final = Path(__file__).resolve().parent.parent / "examples"


@app.command(name="new")
def create_draft(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the draft.")],
    json: JsonOption = False,
) -> None:
    """Create a draft that explains itself.

    It can be run unchanged. Nothing is ever overwritten.

    Examples:
    - `pflow new report`
    """
    path = _create_draft_file(name, _DRAFT_TEMPLATE)
    if json:
        print_json({"name": name, "path": str(path)})
        return
    page = Page()
    page.write_line(StyledText(GREEN, "✓ "), "Created the draft ", StyledText(BOLD, name), StyledText(DIM, f"  {path}"))
    page.write_line()
    page.write_table(
        [
            [f"pflow run {name} who=Ada", StyledText(DIM, "run it; after a failure run it again to resume")],
            [f"pflow check {name}", StyledText(DIM, "list its errors and warnings while you edit it")],
            ["pflow browse WORDS", StyledText(DIM, "find nodes")],
            ["pflow guide", StyledText(DIM, "read how to write workflows")],
            [f"pflow save {name} NAME -d TEXT", StyledText(DIM, "save it to the library")],
        ],
        last_cell="wrapped",
    )


def _create_draft_file(name: str, text: str) -> Path:
    """Create the file of a new draft. Raise WorkflowExists, SecurityError or LibraryUnwritable."""
    from pflow.cli.workflow_sources import locate_workflow_file
    from pflow.errors import LibraryUnwritable
    from pflow.store.workflow_library import WorkflowManager
    from uraniborg.kernel.store.files import AlreadyExists, create_exclusive, make_private_folder

    service = open_service_with_usable_home()
    drafts = WorkflowManager.for_drafts(service.home)
    path, display_path = drafts.get_path(validate_name(name)), drafts.display_path(name)
    try:
        display_path = locate_workflow_file(service, name)[1]
    except WorkflowNotFound:
        try:
            service.texts.record_new_draft(name, text, get_terminal_actor())
            make_private_folder(path.parent)
            create_exclusive(path, text)
        except OSError as exc:
            raise LibraryUnwritable(display_path, exc) from exc
        except AlreadyExists:  # created in the meantime
            pass
        else:
            return path
    raise WorkflowExists(
        f"A workflow '{name}' already exists: {display_path}. Nothing was changed.",
        hint="Choose another name.",
        name=name,
    )


@app.command(name="save")
def save_draft_to_library(
    draft: Annotated[str, typer.Argument(metavar="DRAFT", help="The draft.")],
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the workflow in the library.")],
    description: Annotated[
        str, typer.Option("--description", "-d", metavar="TEXT", help="Description of the workflow, in a sentence.")
    ],
    json: JsonOption = False,
) -> None:
    """Move a draft to the library.

    Nothing is ever overwritten.

    Examples:
    - `pflow save report weekly-report -d "Summarise the papers of a week"`
    """
    saved = open_service_with_usable_home().texts.save_to_library(draft, name, description, get_terminal_actor())
    if json:
        print_json(saved)
        return
    for warning in saved["warnings"]:
        print_stderr_message("warning", YELLOW, warning)
    Page().write_line(StyledText(GREEN, "✓ "), "Saved ", StyledText(BOLD, name), StyledText(DIM, f"  {saved['path']}"))


@app.command(name="examples")
def show_or_copy_example(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="The example to print. Default: list all.")] = None,
    draft: Annotated[
        str | None, typer.Option("--as", metavar="DRAFT", help="Copy the example to a draft of this name.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """List examples, or start a draft from one.

    Examples:
    - `pflow examples hello --as greet`
    """
    from pflow.cli.draft_commands import list_examples, read_example
    from uraniborg.kernel.terminal.command_runner import UsageError

    if name is None:
        if draft is not None:
            raise UsageError("--as needs the name of an example.", hint="pflow examples NAME --as DRAFT")
        found = list_examples()
        print_json({"examples": found}) if json else _print_examples(found)
        return
    text = read_example(name)
    if draft is None:
        print_json({"name": name, "text": text}) if json else write_text(sys.stdout, text)
        return
    path = _create_draft_file(draft, text)
    message = f"Created the draft {draft} from the example {name}. Run it: pflow run {draft}"
    print_json({"name": draft, "path": str(path)}) if json else Page().write_line(StyledText(GREEN, "✓ "), message)


def _print_examples(examples: "list[ExampleSummary]") -> None:
    page = Page()
    page.write_table(
        [[StyledText(BOLD, one["name"]), one["description"]] for one in examples], indent=0, last_cell="wrapped"
    )
    page.write_line()
    page.write_line(StyledText(DIM, "Start a draft from one: pflow examples NAME --as DRAFT"))


def list_examples() -> "list[ExampleSummary]":
    """Return the name, the description and the input names of each example."""
    found: list[ExampleSummary] = []
    for path in sorted(EXAMPLES_FOLDER.glob("*.json")):
        document = read_document(path, path.name)
        inputs = list(parse_declared_inputs(document.ir.get("inputs"), []))
        found.append(
            {
                "name": path.stem,
                "description": document.description,
                "inputs": inputs,
            }
        )
    return found


def read_example(name: str) -> str:
    """Return the text of an example. Raise WorkflowNotFound."""
    names = [path.stem for path in sorted(EXAMPLES_FOLDER.glob("*.json"))]
    if name not in names:
        from uraniborg.kernel.language.messages import find_nearest_name

        nearest = find_nearest_name(name[:80], names)
        raise WorkflowNotFound(
            f"There is no example '{name[:80]}'.",
            hint=f"Did you mean '{nearest}'?" if nearest else f"There are: {', '.join(names)}.",
            name=name[:80],
            available=names,
        )
    return (EXAMPLES_FOLDER / f"{name}.json").read_text(encoding="utf-8")
