"""The demo's workflow: through all parts, in two processes, of which the second goes on where the first failed."""

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
from rich.text import Text

from uraniborg.kernel.bibliography.names import split_name
from uraniborg.kernel.errors import Unavailable
from uraniborg.recordings import QUERY, RECORDING

_WRONG: Final = "trappist-1-x"
_RIGHT: Final = "trappist-1-e"
_EARTH: Final = 3.0034893e-6
"""Its mass in solar masses."""
_PATIENCE_S: Final = 60.0
_NEEDED: Final = ("PATH", "HOME", "LANG", "TMPDIR", "SYSTEMROOT", "TEMP")

Plain = dict[str, Any]


async def show_workflow(console: Console) -> None:
    """Run the example `claim` in two processes: for a body that does not exist, and then for one that does."""
    console.print("[bold]A workflow through all of it[/], which fails, is mended, and goes on")
    with tempfile.TemporaryDirectory(prefix="uraniborg-demo-") as name:
        folder = Path(name)
        draft = folder / "home" / "workflows" / "drafts" / "claim.json"
        draft.parent.mkdir(parents=True)
        example = files("pflow").joinpath("examples", "claim.json").read_bytes()
        draft.write_bytes(example)
        console.print(Text(f"  {' → '.join(node['id'] for node in json.loads(example)['ir']['nodes'])}\n", "dim"))
        try:
            async with asyncio.timeout(_PATIENCE_S):
                failed = await _run(folder, _WRONG)
                _tell_failure(console, failed)
                mended = await _run(folder, _RIGHT)
                _tell_success(console, mended)
        except TimeoutError:
            raise Unavailable(
                "The demo's workflow did not end.", hint="Run `pflow examples claim` to try it."
            ) from None
    console.print()


async def _run(folder: Path, body: str) -> Plain:
    command = ["run", "claim", f"query={QUERY}", f"replay={RECORDING}", f"body={body}", "--json"]
    # Nothing of the user's own settings: the demo is the same everywhere.
    env = {name: os.environ[name] for name in _NEEDED if name in os.environ}
    env |= {"PFLOW_HOME": str(folder / "home"), "URANIBORG_HOME": str(folder / "house")}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "pflow", *command, stdin=DEVNULL, stdout=PIPE, stderr=DEVNULL, env=env, cwd=folder
    )
    try:
        said, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    try:
        return json.loads(said)
    except ValueError:
        raise Unavailable("The demo's workflow did not run.", hint="Run `pflow examples claim` to try it.") from None


def _tell_failure(console: Console, reply: Plain) -> None:
    console.print(_command(_WRONG))
    checkpoint = reply["checkpoint"]
    console.print(_line("✔", ", ".join(checkpoint["completed_nodes"]), "green"))
    console.print(_line("✘", checkpoint["failed_node"], "red", reply["error"]["message"]))
    done = len(checkpoint["completed_nodes"])
    console.print(Text(f"    checkpoint: what {done} nodes did is kept; the rest is to be mended\n", "yellow"))


def _tell_success(console: Console, reply: Plain) -> None:
    console.print(_command(_RIGHT))
    console.print(_line("↺", ", ".join(reply["reused_nodes"]), "cyan", "unchanged: not run again"))
    for node, reason in reply["not_reused"].items():
        console.print(_line("✔", node, "green", reason))
    body = reply["outputs"]["body"]["stars"][_RIGHT]
    source = body["sources"][0]
    mass = f"{body['mass'] / _EARTH:.2f} Earth masses"
    console.print(Text.assemble(("\n  the paper       ", "dim"), reply["outputs"]["paper"]))
    said = f"{mass}, says doi:{source['doi']} ({split_name(source['authors'][0]).family} et al. {source['year']})"
    console.print(Text.assemble((f"  {body['name']:<16}", "dim"), said))


def _command(body: str) -> Text:
    return Text.assemble(("  pflow run claim ", "dim"), (f"body={body}", "cyan"))


def _line(mark: str, what: str, style: str, note: str = "") -> Text:
    return Text.assemble((f"    {mark} ", style), f"{what:<8}", (f"  {note}" if note else "", "dim"))
