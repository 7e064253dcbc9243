"""The story in the terminal: step by step with the Enter key, or all at once as a script."""

import asyncio
import json
import shlex
import shutil
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from rich.console import Console, Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from uraniborg.bundle.writer import delete_listed_files
from uraniborg.connect.servers import format_program
from uraniborg.kernel.errors import InvalidInput, MissingExtra, UraniborgError
from uraniborg.kernel.files import make_folder
from uraniborg.story.folder import Plain, find_story_home
from uraniborg.story.replies import StoryProgress, StoryStep, StoryStepWithResult
from uraniborg.story.service import Story

_WHO: Final = {"agent": "cyan", "you": "blue", "workflow": "magenta", "computer": "green"}
_LABEL_WIDTH: Final = 16
Ask = Callable[[str], str]


def run_story_in_terminal(
    output: Path, *, is_script: bool, is_restart: bool, years: float | None, as_json: bool
) -> None:
    """Run the story of the data folder. Raise MissingExtra without the extra `mcp`, and as `run_story` does."""
    if find_spec("mcp") is None:
        raise MissingExtra("mcp", "The demo")
    story = Story(find_story_home())
    if is_restart:
        asyncio.run(story.restart())
    story = Story(story.folder.home)
    run_story(story, output, is_script=is_script, as_json=as_json, years=years)


def run_story(
    story: Story,
    output: Path,
    *,
    is_script: bool,
    as_json: bool,
    years: float | None = None,
    console: Console | None = None,
    ask: Ask = input,
) -> None:
    """Run the steps that are left, display them all, and copy the bundle to `output`.

    Raise InvalidInput when `output` cannot be written to, and the errors of the steps.
    """
    _make_output_folder(output)
    console = console or Console(quiet=as_json, highlight=False)
    state, query = asyncio.run(_run_and_close(story, console, is_script=is_script or as_json, years=years, ask=ask))
    if state["is_complete"]:
        delete_listed_files(output)
        shutil.copytree(story.folder.bundle, output, dirs_exist_ok=True)
        _print_end(console, output, query)
    if as_json:
        sys.stdout.write(json.dumps(state) + "\n")


async def _run_and_close(
    story: Story, console: Console, *, is_script: bool, years: float | None, ask: Ask
) -> tuple[StoryProgress, str]:
    """Run the steps that are left; return the state and the words that the agent searched for."""
    try:
        await _run_steps(story, console, is_script=is_script, years=years, ask=ask)
        asked: Any = (await story.get_step("ask"))["result"] or {}
        return await story.get_state(), asked.get("query", "")
    finally:
        await story.aclose()


async def _run_steps(story: Story, console: Console, *, is_script: bool, years: float | None, ask: Ask) -> None:
    """Run the steps in order, until the person leaves."""
    state = await story.get_state()
    console.print(_render_title(state, is_script=is_script))
    for number, known in enumerate(state["steps"], 1):
        step = known if known["status"] == "done" else await story.get_step(known["id"])
        position = f"{number}/{len(state['steps'])} "
        if not is_script:
            console.print(_render_heading(step, position))
        while step["status"] != "done":
            inputs: Plain | None = {"years": years} if step["id"] == "integrate" and years is not None else {}
            if not is_script:
                console.print(_render_result(step))
                inputs = await asyncio.to_thread(_ask_inputs, step, ask)
                if inputs is None:
                    console.print("[dim]  Left. `uraniborg demo` continues from here.[/]")
                    return
            try:
                step = await _run_step(story, console, step, position, inputs)
            except UraniborgError as error:
                if is_script:
                    raise
                console.print(Text(f"  {error.message} {error.hint}", "yellow"))
        if is_script:  # the title may depend on the inputs
            console.print(_render_heading(step, position))
        console.print(_render_result(step))


async def _run_step(
    story: Story, console: Console, step: StoryStep, position: str, inputs: Plain
) -> StoryStepWithResult:
    with console.status(f"{position}{step['title']}") as status:

        def show(done: float) -> None:
            status.update(f"{position}{step['title']}  {done:.0%}")

        return await story.run_step(step["id"], inputs, progress=show if console.is_terminal else None)


def _ask_inputs(step: StoryStep, ask: Ask) -> Plain | None:
    """Return the inputs that the person types, such as `factor=50`, or `3=exclude` for a paper; None to leave."""
    marks = next((one["name"] for one in step["inputs"] if one["type"] == "object"), None)
    choices = "".join(
        f", or {one['name']}={json.dumps(one['value'])}" for one in step["inputs"] if one["type"] != "object"
    )
    verdicts = ", or first your own verdicts, such as 3=exclude" if marks else ""
    try:
        answer = ask(f"  Enter: {step['action']}{choices}{verdicts}; q: leave > ").strip()
    except EOFError:
        return None
    if answer.lower() in ("q", "quit"):
        return None
    given: Plain = {}
    for pair in [] if answer.lower() in ("y", "yes") else answer.split():
        name, _, text = pair.partition("=")
        try:
            value: Any = json.loads(text)
        except ValueError:
            value = text
        if marks and name.isdecimal():
            given.setdefault(marks, {})[name] = value
        else:
            given[name] = value
    return given


def _make_output_folder(output: Path) -> None:
    try:
        make_folder(output)
    except OSError as error:
        raise InvalidInput(
            f"'{output}' cannot be a folder to write to: {error.strerror}.", hint="Name another one with --output."
        ) from error


def _render_title(state: StoryProgress, *, is_script: bool) -> Group:
    unasked = Text("Nobody is asked: each step takes the value that it suggests.\n", style="dim")
    return Group(
        Text("\nUraniborg", style="bold"),
        Text("No network, no key. The papers are real; the answers of the sources, and the", style="dim"),
        Text("summaries that stand for abstracts, were written for this demo.", style="dim"),
        unasked if is_script else "",
        Text.assemble(("You ask   ", "dim"), (state["question"], "bold")),
    )


def _render_heading(step: StoryStep, position: str) -> Text:
    return Text.assemble("\n", (position, "dim"), (step["title"], "bold"), (f"  {step['who']}", _WHO[step["who"]]))


def _render_result(step: StoryStep) -> Group:
    facts = Table.grid(padding=(0, 1))
    facts.add_column(style="dim", min_width=_LABEL_WIDTH, no_wrap=True)
    facts.add_column(ratio=1, overflow="fold")  # a path is broken, not shortened
    for one in step["facts"]:
        facts.add_row(one["label"], Text(one["text"]))
    return Group(Padding(Text(step["sentence"]), (0, 0, 0, 2)), Padding(facts, (0, 0, 0, 4)))


def _print_end(console: Console, output: Path, query: str) -> None:
    """Print where the bundle is, and commands that can be pasted, none of which needs a network."""
    folder = shlex.quote(output.as_posix())
    search, uraniborg = (format_program(name) for name in ("paper-search", "uraniborg"))
    commands = {
        "check the bundle, and repeat its runs": f"{uraniborg} verify {folder}",
        "decide on the same search yourself": f"{search} run --review --offline {shlex.quote(query)}",
        "list the MCP clients that you can connect": f"{uraniborg} connect",
        "decide and search in the browser": f"URANIBORG_PAPER_SEARCH__OFFLINE=true {uraniborg} serve --open",
        "check this installation": f"{uraniborg} doctor",
    }
    console.print(Text.assemble(("\nWritten   ", "bold"), ((output / "README.md").as_posix(), "cyan")))
    console.print("\n[bold]Next, type one of these[/]: none needs a network")
    for purpose, command in commands.items():
        console.print(Text(f"  {purpose}", "dim"))
        console.print(Text(f"    {command}", "cyan"), soft_wrap=True)
    console.print()
