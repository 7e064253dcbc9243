"""The story in the terminal: step by step with the Enter key, or all at once as a script."""

import asyncio
import io
import json
import shlex
import shutil
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from uraniborg.bundle.writer import delete_listed_files
from uraniborg.connect.server_entries import format_program
from uraniborg.kernel.errors import InvalidInput, MissingExtra, UraniborgError
from uraniborg.kernel.store.files import make_folder
from uraniborg.kernel.terminal.output_streams import print_json
from uraniborg.kernel.terminal.page import Page
from uraniborg.kernel.terminal.progress import Progress
from uraniborg.kernel.terminal.styled_text import BLUE, BOLD, CYAN, DIM, GREEN, MAGENTA, YELLOW, StyledText
from uraniborg.story.folder import find_story_home
from uraniborg.story.service import Story

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import Json, JsonObject
    from uraniborg.story.replies import StoryProgress, StoryStep
    from uraniborg.story.results import AskResult

_WHO: Final = {"agent": CYAN, "you": BLUE, "workflow": MAGENTA, "computer": GREEN}
_LABEL_WIDTH: Final = 16
_ABOUT: Final = (
    "No network, no key. The papers are real; the answers of the sources, and the summaries that stand for abstracts, "
    "were written for this demo."
)
_UNASKED: Final = "Nobody is asked: each step takes the value that it suggests."
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
    page: Page | None = None,
    ask: Ask = input,
) -> None:
    """Run the steps that are left, display them all, and copy the bundle to `output`.

    Raise InvalidInput when `output` cannot be written to, and the errors of the steps.
    """
    _make_output_folder(output)
    page = page or Page(io.StringIO() if as_json else None)
    state, query = asyncio.run(_run_and_close(story, page, is_script=is_script, as_json=as_json, years=years, ask=ask))
    if state["is_complete"]:
        delete_listed_files(output)
        shutil.copytree(story.folder.bundle, output, dirs_exist_ok=True)
        _print_end(page, output, query)
    if as_json:
        print_json(state)


async def _run_and_close(
    story: Story, page: Page, *, is_script: bool, as_json: bool, years: float | None, ask: Ask
) -> "tuple[StoryProgress, str]":
    """Run the steps that are left; return the state and the words that the agent searched for."""
    try:
        await _run_steps(story, page, is_script=is_script or as_json, as_json=as_json, years=years, ask=ask)
        asked = (await story.get_step("ask"))["result"]
        return await story.get_state(), cast("AskResult", asked)["query"] if asked else ""
    finally:
        await story.aclose()


async def _run_steps(
    story: Story, page: Page, *, is_script: bool, as_json: bool, years: float | None, ask: Ask
) -> None:
    """Run the steps in order, until the person leaves."""
    state = await story.get_state()
    _print_title(page, state, is_script=is_script)
    for number, known in enumerate(state["steps"], 1):
        step = known if known["status"] == "done" else await story.get_step(known["id"])
        position = f"{number}/{len(state['steps'])} "
        if not is_script:
            _print_heading(page, step, position)
        while step["status"] != "done":
            inputs: JsonObject | None = {"years": years} if step["id"] == "integrate" and years is not None else {}
            if not is_script:
                _print_result(page, step)
                inputs = await asyncio.to_thread(_ask_inputs, step, ask)
                if inputs is None:
                    page.write_line(StyledText(DIM, "  Left. `uraniborg demo` continues from here."))
                    return
            try:
                with Progress(f"{position}{step['title']}", as_json=as_json) as progress:
                    step = await story.run_step(step["id"], inputs, progress=progress.report_fraction)
            except UraniborgError as error:
                if is_script:
                    raise
                page.write_paragraph("  ", StyledText(YELLOW, f"{error.message} {error.hint}"))
        if is_script:  # the title may depend on the inputs
            _print_heading(page, step, position)
        _print_result(page, step)


def _ask_inputs(step: "StoryStep", ask: Ask) -> "JsonObject | None":
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
    given: JsonObject = {}
    for pair in [] if answer.lower() in ("y", "yes") else answer.split():
        name, _, text = pair.partition("=")
        try:
            value: Json = json.loads(text)
        except ValueError:
            value = text
        if marks and name.isdecimal():
            cast("JsonObject", given.setdefault(marks, {}))[name] = value
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


def _print_title(page: Page, state: "StoryProgress", *, is_script: bool) -> None:
    page.write_line()
    page.write_line(StyledText(BOLD, "Uraniborg"))
    page.write_paragraph(StyledText(DIM, _ABOUT))
    if is_script:
        page.write_paragraph(StyledText(DIM, _UNASKED))
    page.write_line()
    page.write_paragraph(StyledText(DIM, "You ask   "), StyledText(BOLD, state["question"]))


def _print_heading(page: Page, step: "StoryStep", position: str) -> None:
    page.write_line()
    who = StyledText(_WHO[step["who"]], f"  {step['who']}")
    page.write_line(StyledText(DIM, position), StyledText(BOLD, step["title"]), who)


def _print_result(page: Page, step: "StoryStep") -> None:
    page.write_paragraph("  ", step["sentence"])
    facts = [(StyledText(DIM, f"{one['label']:<{_LABEL_WIDTH}}"), one["text"]) for one in step["facts"]]
    page.write_table(facts, indent=4, last_cell="wrapped")


def _print_end(page: Page, output: Path, query: str) -> None:
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
    page.write_line()
    page.write_line(StyledText(BOLD, "Written   "), StyledText(CYAN, (output / "README.md").as_posix()))
    page.write_line()
    page.write_line(StyledText(BOLD, "Next, type one of these"), ": none needs a network")
    for purpose, command in commands.items():
        page.write_line(StyledText(DIM, f"  {purpose}"))
        page.write_line(StyledText(CYAN, f"    {command}"))
    page.write_line()
