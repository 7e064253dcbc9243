"""Forgeries of workflow runs: statuses, inputs, outputs, and reasons not to repeat a node."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from tests.uraniborg.bundle.forging import edit_json, find_node, replace, tells

STOPPED: Final = "runs/masses-stopped.json"
RESUMED: Final = "runs/masses-resumed.json"
WORKFLOW: Final = "workflows/masses.json"
METHODS: Final = "methods.md"


def edit_node(folder: Path, path: str, name: str, change: Callable[[Any], object]) -> None:
    edit_json(folder, path, lambda run: change(find_node(run, name)))


def raise_mass(outputs: Any) -> None:
    """Make a mass ten times as large wherever the outputs of a node state it."""
    outputs["value"] = outputs["command"]["payload"]["mass"] = outputs["value"] * 10
    outputs["stated"] = outputs["stated"].replace("0.326", "3.26")


@tells("an output of a node changed, in the record of the node and in the output of the run alike", "runs", RESUMED)
def _(folder: Path) -> None:
    def change(run: Any) -> None:
        outputs = find_node(run, "star")["outputs"]
        outputs["value"] = outputs["command"]["payload"]["mass"] = 0.898
        run["outputs"]["star"] = outputs["command"]

    edit_json(folder, RESUMED, change)


@tells("an output of a run that no node returned", "runs", RESUMED)
def _(folder: Path) -> None:
    edit_json(folder, RESUMED, lambda run: run["outputs"].update(h_stated="3.26 ± 0.20 Earth masses"))


@tells("a reused output that the run before did not return", "runs", RESUMED)
def _(folder: Path) -> None:
    def change(run: Any) -> None:
        outputs = find_node(run, "h")["outputs"]
        raise_mass(outputs)
        run["outputs"].update(h=outputs["command"], h_stated=outputs["stated"])

    edit_json(folder, RESUMED, change)


@tells("a run that failed said to have succeeded", "runs", STOPPED)
def _(folder: Path) -> None:
    edit_json(folder, STOPPED, lambda run: run.update(status="success", failed_node=None, error=None))
    replace(folder, METHODS, "ended with failed at the node star", "ended with success")


@tells("another reason for the failure of a run", "runs", STOPPED)
def _(folder: Path) -> None:
    edit_json(folder, STOPPED, lambda run: run["error"].update(message="The disk was full."))


@tells("a node that computes called one that runs a program, with another output", "runs", STOPPED, RESUMED)
def _(folder: Path) -> None:
    def change(node: Any) -> None:
        node["type"] = "python"
        raise_mass(node["outputs"])

    edit_node(folder, STOPPED, "h", change)


@tells("a node of a type that no program has, with another output", "runs", STOPPED, RESUMED)
def _(folder: Path) -> None:
    def change(node: Any) -> None:
        node["type"] = "universe-claim-2"
        raise_mass(node["outputs"])

    edit_node(folder, STOPPED, "h", change)


@tells("a node called reused from a run before the first, with another output", "runs", STOPPED)
def _(folder: Path) -> None:
    def change(run: Any) -> None:
        node = find_node(run, "h")
        node["status"] = "reused"
        raise_mass(node["outputs"])
        run["reused"] = 1

    edit_json(folder, STOPPED, change)
    replace(folder, METHODS, "of which 0 were reused", "of which 1 was reused")


@tells("a node called skipped, with another output", "runs", STOPPED, RESUMED)
def _(folder: Path) -> None:
    def change(node: Any) -> None:
        node["status"] = "skipped"
        raise_mass(node["outputs"])

    edit_node(folder, STOPPED, "h", change)


@tells("a short output said to be too long to be stored", "runs", STOPPED, expected="unproven")
def _(folder: Path) -> None:
    edit_node(
        folder, STOPPED, "h", lambda node: node["outputs"].update(stated={"characters": 90_000, "beginning": "3.26"})
    )


@tells("an input masked as a secret, with another output", "runs", STOPPED, RESUMED)
def _(folder: Path) -> None:
    from uraniborg.kernel.logging import MASK

    def change(node: Any) -> None:
        node["inputs"]["paper"]["abstract"] = MASK
        raise_mass(node["outputs"])

    edit_node(folder, STOPPED, "h", change)


@tells("an input that the workflow does not pass to the node", "runs", STOPPED)
def _(folder: Path) -> None:
    def change(node: Any) -> None:
        node["inputs"]["body"] = node["params"]["body"] = "trappist-1-g"

    edit_node(folder, STOPPED, "h", change)


@tells("a run with another input than its node received", "runs", RESUMED)
def _(folder: Path) -> None:
    edit_json(folder, RESUMED, lambda run: run["inputs"].update(star_mass=0.08))


@tells("a row of the paper changed, and the mass that follows from it", "runs", STOPPED, expected="unproven")
def _(folder: Path) -> None:
    for path in (STOPPED, RESUMED):
        replace(folder, path, "0.326 ± 0.020", "0.126 ± 0.020", every=True)
        text = (folder / path).read_text()
        mass = 9.791375277253587e-07
        (folder / path).write_text(
            text.replace(str(mass), str(mass / 0.326 * 0.126)).replace('"value": 0.326', '"value": 0.126')
        )


@tells("a run on another day than its nodes", "runs", STOPPED)
def _(folder: Path) -> None:
    dates = {"started_at": "2020-01-01T00:00:00.000000Z", "ended_at": "2020-01-01T00:00:01.000000Z"}
    edit_json(folder, STOPPED, lambda run: run.update(dates))


@tells("a run that resumed another run than it names", "runs", RESUMED, expected="unproven")
def _(folder: Path) -> None:
    def change(run: Any) -> None:
        run["resumed_from"] = "run_" + "0" * 32

    before = (folder / RESUMED).read_text().partition('"resumed_from": "')[2].partition('"')[0]
    edit_json(folder, RESUMED, change)
    replace(folder, METHODS, f"resumed the run {before}", f"resumed the run run_{'0' * 32}")


@tells("another workflow than the one that ran", "runs", WORKFLOW, expected="unproven")
def _(folder: Path) -> None:
    replace(folder, WORKFLOW, '"field": "mass"', '"field": "radius"')


@tells("methods.md counts more nodes than ran", "runs", METHODS)
def _(folder: Path) -> None:
    replace(folder, METHODS, "used 11 nodes", "used 110 nodes")


@tells("a key twice in a run, first with another status", "runs", STOPPED)
def _(folder: Path) -> None:
    replace(folder, STOPPED, '"status": "failed"', '"status": "success",\n "status": "failed"')
