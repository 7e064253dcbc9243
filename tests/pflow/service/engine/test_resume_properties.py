"""Property: for any workflow, failures, edits and inputs, a resumed run gives the result of a fresh run.

Workflows are drawn as specifications of nodes, each after some of those before it. A chain of runs edits them, fails
at the drawn nodes, and changes inputs. Every run of every node writes a line with its inputs.
"""

import re
import tempfile
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from pflow.service.engine.results import RunResult
from tests.pflow.service.engine.counting_home import Home, chain, node
from tests.requirements import requirement

EXAMPLES = 40
# A chain takes too long for hypothesis to try hundreds of smaller ones.
PHASES = (Phase.explicit, Phase.reuse, Phase.generate)
_PLACES = re.compile(r"\[\d+\]")


@dataclass
class Spec:
    """A node of a drawn workflow: what it is, what it takes, and where it comes from."""

    name: str
    kind: str
    is_effectful: bool
    value: int
    takes: list[str]
    takes_input: bool
    edges: list[tuple[str, str]]
    """The nodes before it, and for which of their actions it is run."""
    items: list[int] = field(default_factory=list[int])
    parallel: bool = False
    goes_on: bool = False
    never: bool = False

    def plain(self, specs: "dict[str, Spec]") -> dict[str, Any]:
        kind = "effect" if self.is_effectful else "pure"
        params: dict[str, Any] = {"v": self.value}
        params |= {f"from-{name}": specs[name].taken for name in self.takes}
        if self.takes_input:
            params["x"] = "${x}"
        if self.kind == "nested":
            inner = chain(
                node("p", kind, given="${given}"),
                node("q", given="${p.value}", w=self.value // 2),
                inputs={"given": {}},
                outputs={"value": {"source": "${q.value}"}},
            )
            return node(self.name, "workflow", workflow_ir=inner, inputs={"given": params})
        if self.kind == "choosing":
            params["action"] = "choose"
        keys: dict[str, Any] = {"resume": "never"} if self.never else {}
        if self.kind == "batch":
            params["item"] = "${item}"
            handling = "continue" if self.goes_on else "fail_fast"
            keys["batch"] = {"items": self.items, "parallel": self.parallel, "error_handling": handling}
        return node(self.name, kind, **params, **keys)

    @property
    def taken(self) -> str:
        """A template for the output of this node, whether it succeeded, failed or was skipped."""
        outputs = "results" if self.kind == "batch" else "value"
        return f'${{{self.name}.{outputs} ?? {self.name}.error ?? "nothing"}}'

    def runs(self) -> list[str]:
        """Return the names of the runs of this node."""
        if self.kind == "batch":
            return [f"{self.name}[{at}]" for at in range(len(self.items))]
        return [f"{self.name}/p", f"{self.name}/q"] if self.kind == "nested" else [self.name]


def workflow(specs: dict[str, Spec]) -> dict[str, Any]:
    edges = [
        {"from": before, "to": spec.name, "action": action} for spec in specs.values() for before, action in spec.edges
    ]
    return {
        "nodes": [spec.plain(specs) for spec in specs.values()],
        "edges": edges,
        "outputs": {name: {"source": spec.taken} for name, spec in specs.items()},
        "inputs": {"x": {"type": "any"}},
    }


@st.composite
def draw_specs(draw: st.DrawFn) -> dict[str, Spec]:
    specs: dict[str, Spec] = {}
    above: dict[str, set[str]] = {}
    for at in range(draw(st.integers(2, 12))):
        name = f"n{at}"
        before = draw(st.lists(st.sampled_from(list(specs)), min_size=1, max_size=3, unique=True)) if specs else []
        edges = [(one, draw(st.sampled_from(_actions(specs[one])))) for one in before]
        above[name] = set(before).union(*(above[one] for one in before))
        specs[name] = Spec(
            name,
            draw(st.sampled_from(["plain", "plain", "plain", "choosing", "batch", "nested"])),
            draw(st.booleans()),
            draw(st.integers(0, 3)),
            draw(st.lists(st.sampled_from(sorted(above[name])), max_size=2, unique=True)) if above[name] else [],
            draw(st.booleans()),
            edges,
            draw(st.lists(st.integers(0, 5), max_size=3, unique=True)),
            draw(st.booleans()),
            draw(st.booleans()),
            draw(st.integers(0, 7)) == 0,
        )
    return specs


def _actions(spec: Spec) -> list[str]:
    return ["left", "right", "error"] if spec.kind == "choosing" else ["default", "default", "default", "error"]


@dataclass
class Turn:
    """One run of a chain: the workflow as it is by then, its input, and what fails."""

    specs: dict[str, Spec]
    x: int
    failing: set[str]
    fresh: bool


@st.composite
def draw_chains(draw: st.DrawFn) -> list[Turn]:
    specs = draw(draw_specs())
    turns: list[Turn] = []
    x = 0
    for _ in range(draw(st.integers(2, 5))):
        keys = [key for spec in specs.values() for key in spec.runs()]
        failing = draw(st.sets(st.sampled_from(keys), max_size=3)) if keys else set[str]()
        turns.append(Turn(specs, x, failing, draw(st.integers(0, 9)) == 0))
        specs = deepcopy(specs)
        for name in draw(st.sets(st.sampled_from(list(specs)), max_size=2)):
            specs[name].value = draw(st.integers(0, 3))
            more = [max(specs[name].items, default=5) + 1]
            specs[name].items = draw(st.permutations(specs[name].items)) + draw(st.sampled_from([[], more]))
        x = draw(st.integers(0, 1))
    return turns


@dataclass
class Lineage:
    """The nodes that have finished since the last successful run, with the inputs of each."""

    done: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])

    @property
    def names(self) -> set[str]:
        return {name for name, _ in self.done}


@pytest.fixture(autouse=True, scope="module")
def memory_for_a_disk() -> Iterator[None]:
    """Replace `fsync`, which takes most of the time: these tests kill no process."""
    with mock.patch("os.fsync"):
        yield


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Home:
    return Home(tmp_path_factory.mktemp("reference"))


@requirement("PF-E10", "PF-R10")
@settings(max_examples=EXAMPLES, phases=PHASES)
@given(draw_chains())
def test_resuming_gives_the_same_as_a_fresh_run_and_runs_only_changed_nodes(reference: Home, turns: list[Turn]) -> None:
    with tempfile.TemporaryDirectory() as place:
        home = Home(Path(place))
        lineage: Lineage | None = None
        for turn in turns:
            set_failures(home, turn.failing)
            if turn.fresh:
                lineage = None
            before = len(home.lines()), len(home.lines("done"))
            plan: Any = home.service.plan_run(workflow(turn.specs), {"x": turn.x}, name="flow", fresh=turn.fresh)
            result = home.run_unlogged(workflow(turn.specs), {"x": turn.x}, fresh=turn.fresh)
            began, done = home.lines()[before[0] :], home.lines("done")[before[1] :]
            check_reported(turn, result, lineage, {line["node"] for line in began})
            check_done_once(turn, done, lineage)
            check_planned(plan, result, {line["node"] for line in began})
            check_outputs(reference, turn, result, {line["node"] for line in began})
            lineage = lineage or Lineage()
            lineage.done |= {(line["node"], line["given"]) for line in done}
            if result.success:
                lineage = None


def set_failures(home: Home, failing: set[str]) -> None:
    home.clear_orders()
    home.order(*(f"fail-{key}" for key in failing))


def check_outputs(reference: Home, turn: Turn, result: RunResult, began: set[str]) -> None:
    # What had finished before is not there to fail.
    set_failures(reference, turn.failing & began)
    fresh = reference.run_unlogged(workflow(turn.specs), {"x": turn.x}, fresh=True)
    assert result.success == fresh.success, result.error_body
    assert result.outputs == fresh.outputs
    if result.success:
        assert result.progress.actions == fresh.progress.actions
        assert sorted(result.progress.skipped) == sorted(fresh.progress.skipped)
    else:
        assert result.is_resumable
        assert result.failed_node in turn.specs


def check_done_once(turn: Turn, done: list[dict[str, Any]], lineage: Lineage | None) -> None:
    """Check that no finished step ran again with the same parameters."""
    never = {spec.name for spec in turn.specs.values() if spec.never}
    had = {(_PLACES.sub("", name), given) for name, given in lineage.done} if lineage else set[tuple[str, str]]()
    for line in done:
        name = _PLACES.sub("", line["node"])
        if name.partition("/")[0] not in never:
            assert (name, line["given"]) not in had, f"{line['node']} ran twice"
            had.add((name, line["given"]))


def check_reported(turn: Turn, result: RunResult, lineage: Lineage | None, began: set[str]) -> None:
    """Check that the reply lists the reused nodes, which did not run, and the reasons for all others."""
    reply: Any = result.reply()
    if lineage is None:
        assert reply["reused_nodes"] == []
        assert "not_reused" not in reply
        return
    reused, others = reply["reused_nodes"], reply["not_reused"]
    completed = result.progress.completed
    # Of a workflow within that was not taken over as a whole, the nodes are named, too; and so is what failed.
    report = {name for name in (*reused, *others) if "/" not in name}
    failed = {*result.progress.failures, *(name for name, one in result.progress.actions.items() if one == "error")}
    assert {*completed} <= report <= {*completed} | failed
    for name in completed:
        spec = turn.specs[name]
        ran = any(key in began for key in spec.runs())
        assert ran == (name in others) or (spec.kind == "batch" and not spec.items)
        if name in others and spec.kind in ("plain", "choosing"):
            check_reason(spec, others[name], lineage, result.warnings)


def check_planned(plan: list[dict[str, Any]], result: RunResult, began: set[str]) -> None:
    """Check that planned reuse and skips happened, and that nodes planned to run were not reused."""
    for step in plan:
        name, will = step["node"], step["will"]
        ran = {key for key in began if key == name or key.startswith((f"{name}[", f"{name}/"))}
        assert not ran or will == "run", f"{name} was to {will}"
        if will == "run" and not step["waits_for"]:
            assert name not in result.progress.reused
        if will == "skip" and "/" not in name and not result.progress.failures:
            assert name in result.progress.skipped


def check_reason(spec: Spec, reason: str, lineage: Lineage, warnings: list[str]) -> None:
    warned = [report for report in warnings if report.startswith(f"'{spec.name}' has effects")]
    if spec.never:
        assert reason == 'its "resume" is "never"'
    elif spec.name in lineage.names:
        assert reason == "its inputs changed"
        assert bool(warned) == spec.is_effectful
    else:
        assert reason == "it had not finished"
        assert not warned
