"""The demo's workflow: from a paper to a value through all parts. A claim that no table row supports is refused."""

import asyncio
import json
import os
import sys
import tempfile
from asyncio.subprocess import DEVNULL, PIPE
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from universe.claims import check_claim
from universe.provenance.shelf_texts import make_paper_text_reader
from uraniborg.kernel.bibliography.names import split_name
from uraniborg.kernel.errors import Unavailable
from uraniborg.recordings import QUERY, RECORDING

_BODY: Final = "trappist-1-e"
_WRONG: Final = "mass=42"
_PATIENCE_S: Final = 60.0
_NEEDED: Final = ("PATH", "HOME", "LANG", "TMPDIR", "SYSTEMROOT", "TEMP")

Plain = dict[str, Any]


async def run_and_show_workflow(console: Console) -> None:
    """Run the example `claim` in two processes: with a mass that no row states, and with the mass that one states."""
    console.print("[bold]A workflow through all parts[/]: a mass needs a table row that states it")
    with tempfile.TemporaryDirectory(prefix="uraniborg-demo-") as name:
        folder = Path(name)
        draft = folder / "home" / "workflows" / "drafts" / "claim.json"
        draft.parent.mkdir(parents=True)
        example = files("pflow").joinpath("examples", "claim.json").read_bytes()
        draft.write_bytes(example)
        console.print(Text(f"  {' → '.join(node['id'] for node in json.loads(example)['ir']['nodes'])}\n", "dim"))
        try:
            async with asyncio.timeout(_PATIENCE_S):
                _show_refusal(console, await _run_workflow(folder, _WRONG))
                reply = await _run_workflow(folder)
                _show_reuse(console, reply)
                _show_value(console, reply["outputs"], folder / "claim-shelf")
        except TimeoutError:
            raise Unavailable(
                "The demo's workflow did not end.", hint="Run `pflow examples claim` to try it."
            ) from None
    console.print()


async def _run_workflow(folder: Path, *inputs: str) -> Plain:
    command = ["run", "claim", f"query={QUERY}", f"replay={RECORDING}", f"body={_BODY}", *inputs, "--json"]
    # Nothing of the user's own settings: the demo is the same everywhere.
    env = {name: os.environ[name] for name in _NEEDED if name in os.environ}
    env |= {"PFLOW_HOME": str(folder / "home"), "URANIBORG_HOME": str(folder / "data")}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "pflow", *command, stdin=DEVNULL, stdout=PIPE, stderr=DEVNULL, env=env, cwd=folder
    )
    try:
        output, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    try:
        return json.loads(output)
    except ValueError:
        raise Unavailable("The demo's workflow did not run.", hint="Run `pflow examples claim` to try it.") from None


def _show_refusal(console: Console, reply: Plain) -> None:
    console.print(_render_command(_WRONG))
    checkpoint = reply["checkpoint"]
    done: list[str] = checkpoint["completed_nodes"]
    console.print(_render_lines(("✔", "green", ", ".join(done)), ("✘", "red", _render_failure(reply))))
    console.print(Text(f"    No value was set. The results of {len(done)} nodes are stored.\n", "yellow"))


def _render_failure(reply: Plain) -> Text:
    return Text.assemble(reply["checkpoint"]["failed_node"], (f": {reply['error']['message']}", "dim"))


def _show_reuse(console: Console, reply: Plain) -> None:
    console.print(_render_command())
    reused = Text.assemble(", ".join(reply["reused_nodes"]), (": unchanged, reused", "dim"))
    console.print(_render_lines(("↺", "cyan", reused), ("✔", "green", ", ".join(reply["not_reused"]))))
    console.print()


def _show_value(console: Console, outputs: Plain, shelf: Path) -> None:
    body = outputs["body"]["stars"][_BODY]
    source = next(one for one in body["sources"] if "mass" in one["fields"] and one.get("locations"))
    location = outputs["location"]
    row = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for cell in location["header"]:
        row.add_column(cell, no_wrap=True)
    row.add_row(*location["row"])
    status = check_claim(source, "mass", body["mass"], body=body, text_of=make_paper_text_reader(shelf))
    found = "the row is on the shelf" if status.checked else "the row is not on the shelf"
    facts = Table.grid()
    facts.add_column(width=18, style="dim")
    facts.add_row(
        "  the paper", f"{split_name(source['authors'][0]).family} et al. {source['year']}, doi:{source['doi']}"
    )
    facts.add_row("  its data sheet", f"{location['section']}: {location['table']}")
    facts.add_row("", row)
    facts.add_row("  the mass", f"{body['name']}: {outputs['stated']}, or {body['mass']:.4g} solar masses")
    facts.add_row("  its status", f"{status.status}: {found}")
    console.print(facts)


def _render_command(*inputs: str) -> Text:
    return Text.assemble(("  pflow run claim ", "dim"), (" ".join((f"body={_BODY}", *inputs)), "cyan"))


def _render_lines(*lines: tuple[str, str, str | Text]) -> Table:
    grid = Table.grid()
    grid.add_column(width=6)
    for mark, style, what in lines:
        grid.add_row(Text(f"    {mark} ", style), what)
    return grid
