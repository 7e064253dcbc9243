"""Find results of earlier runs that the next run can reuse, and decide by fingerprints and effects which it can.

The effects digest of a node stands for all that the nodes before it did to files, servers and the like. Values passed
on in templates are in a node's parameters. Anything else, such as a file that one node writes and another reads, is
covered by types that declare `reads_world`: the digest is part of the fingerprint of their results. It changes when

- a node before it that is not pure runs and did not run before (its effect run id is the id of this run);
- a node before it that is not pure fails in another way than before and an `error` edge is followed.

Pure nodes and nodes that were not started leave the digest as it is.
"""

import os
import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from pflow.domain.ir.model import Node
from pflow.domain.node import NodeContext
from pflow.domain.node_interface import Interface
from pflow.domain.value_conversion import compute_fingerprint
from pflow.store.resume_journal import StepKey, StoredResult

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import Json


_INDEXES: Final = re.compile(r"\[\d+\]")
_MAX_RESULTS: Final = 20
"""Results of one node with different fingerprints that are stored."""

ContainsSecret = Callable[[Any], bool]
"""Return True if a value contains a secret."""


class EarlierRuns(NamedTuple):
    """The results of the earlier runs of a workflow. `lineage` is the id of the first of them."""

    results: dict[StepKey, StoredResult]
    fingerprints: dict[str, set[str]]
    uncertain: set[StepKey]
    """Nodes with effects that were interrupted."""
    lineage: str | None
    notices: list[str]
    waiting: frozenset[StepKey] = frozenset()
    """Nodes that wait for a person. While there is one, no result expires."""
    run: str | None = None
    """The id of the last of them."""

    def list_removed_files(self) -> frozenset[str]:
        """Return the paths of the files that nodes removed."""
        return frozenset(path for one in self.results.values() for path in one.took)

    def was_interrupted(self, key: StepKey) -> bool:
        """Return True if an earlier run started this node, with any parameters, and did not finish it.

        For an item of a batch, also True if an item with the same parameters at another index was interrupted.
        """
        return any(one[0] == key[0] or remove_item_indexes(one) == remove_item_indexes(key) for one in self.uncertain)


class ResultLookup:
    """The results of earlier runs, each of which can be claimed for one step of this run."""

    def __init__(self, earlier: EarlierRuns, nodes: Iterable[str] = ()) -> None:
        """`nodes` are those of the workflow as it is now."""
        self._node_ids = set(nodes)
        self.used: set[StepKey] = set()
        """Results that were found for a step."""
        self.removed_files = earlier.list_removed_files()
        self._results = earlier.results
        self._trials: list[list[tuple[dict[str, StoredResult], str, StoredResult]]] = []
        self._item_results: dict[StepKey, dict[str, StoredResult]] = {}
        self._effects = {
            result.fingerprint: result
            for result in earlier.results.values()
            if result.effect == "effectful" and "[" not in result.node and "/" not in result.node
        }
        for result in earlier.results.values():
            if "[" in result.node:
                self._item_results.setdefault(remove_item_indexes(result.key), {})[result.node] = result

    def claim_result(self, key: StepKey) -> StoredResult | None:
        """Return an earlier result for this step, or None, and record its use.

        An item of a batch gets the result of any item with the same parameters, each result once: items that were
        added or removed shift the indexes of the others.
        """
        result = (
            self._claim_item_result(key)
            if "[" in key[0]
            else self._results.get(key) or self._claim_result_of_renamed_node(key)
        )
        if result is not None:
            self.used.add(result.key)
        return result

    def begin_trial_claims(self) -> None:
        """Release all claims from now on at the next call of `release_trial_claims`."""
        self._trials.append([])

    def release_trial_claims(self) -> None:
        """Release the claims since the last call of `begin_trial_claims`."""
        for results, name, result in self._trials.pop():
            results[name] = result

    def _claim_item_result(self, key: StepKey) -> StoredResult | None:
        unclaimed = self._item_results.get(remove_item_indexes(key), {})
        name = key[0] if key[0] in unclaimed else next(iter(unclaimed), "")
        return self._remove_claimed_result(unclaimed, name) if name else None

    def _claim_result_of_renamed_node(self, key: StepKey) -> StoredResult | None:
        """Return the result of a node with effects that no longer exists and had the same parameters.

        The node probably has a new name.
        """
        result = self._effects.get(key[1])
        if result is None or result.node in self._node_ids or "/" in key[0]:
            return None
        return self._remove_claimed_result(self._effects, key[1])

    def _remove_claimed_result(self, results: dict[str, StoredResult], name: str) -> StoredResult:
        result = results.pop(name)
        if self._trials:
            self._trials[-1].append((results, name, result))
        return result


def remove_item_indexes(key: StepKey) -> StepKey:
    """Return a key that is the same for all items of a batch."""
    return _INDEXES.sub("[]", key[0]), key[1]


def build_earlier_runs(
    results: dict[StepKey, StoredResult], uncertain: set[StepKey], lineage: str | None, notices: list[str] | None = None
) -> EarlierRuns:
    """Return earlier runs with these results."""
    fingerprints: dict[str, set[str]] = {}
    for node, fingerprint in results:
        fingerprints.setdefault(node, set()).add(fingerprint)
    return EarlierRuns(results, fingerprints, uncertain, lineage, notices or [])


def make_empty_earlier_runs(notices: list[str] | None = None) -> EarlierRuns:
    """Return earlier runs without any result."""
    return build_earlier_runs({}, set(), None, notices)


def merge_earlier_runs(older: EarlierRuns, newer: EarlierRuns) -> EarlierRuns:
    """Return both; where they differ, the newer one wins."""
    merged = build_earlier_runs(
        older.results | newer.results, older.uncertain | newer.uncertain, newer.lineage or older.lineage
    )
    return merged._replace(waiting=older.waiting | newer.waiting, run=newer.run or older.run)


def select_latest_results(results: dict[StepKey, StoredResult]) -> list[StoredResult]:
    """Return the newest results of each node, and all results of nodes with effects, which must not happen twice."""
    counts: dict[str, int] = {}
    selected: list[StoredResult] = []
    for result in reversed(list(results.values())):
        counts[result.node] = counts.get(result.node, 0) + 1
        if counts[result.node] <= _MAX_RESULTS or result.effect == "effectful":
            selected.append(result)
    return selected[::-1]


def drop_secret_outputs(earlier: EarlierRuns, contains_secret: ContainsSecret) -> EarlierRuns:
    """Return the same without the outputs that contain a secret: such nodes run again."""
    results = {
        key: one._replace(outputs=None) if one.outputs is not None and contains_secret(one.parse_outputs()) else one
        for key, one in earlier.results.items()
    }
    return earlier._replace(results=results)


def refresh_used_results(earlier: EarlierRuns, used: set[StepKey], now: float) -> EarlierRuns:
    """Return the same with the time of use of the used results set to now: only unused results expire."""
    return earlier._replace(
        results={key: one._replace(at=now) if key in used else one for key, one in earlier.results.items()}
    )


NO_EFFECTS: Final = ""
_SEPARATOR: Final = "-"
"""Stands between the fingerprint of a step and its effects digest."""


def join_effects_digests(digests: Iterable[str | None]) -> str | None:
    """Return the effects digest where several branches meet; None if one of theirs is not known."""
    different = {*digests}
    if None in different:
        return None
    known = sorted(cast("set[str]", different) - {NO_EFFECTS})
    return known[0] if len(known) == 1 else compute_fingerprint(known) if known else NO_EFFECTS


def extend_effects_digest(digest: str, node: str, effect_run_id: str) -> str:
    """Return the effects digest after a node; an empty `effect_run_id` stands for a node without effects."""
    return compute_fingerprint(digest, node, effect_run_id) if effect_run_id else digest


def can_reuse_result(
    node: Node, interface: Interface, params: "Mapping[str, Json]", context: NodeContext, removed_files: frozenset[str]
) -> bool:
    """Return False if the node reads data that changes by itself, or if a file that it wrote is missing.

    Files that a later node removed do not count as missing.
    """
    if not node.reuse or interface.is_volatile_with(params):
        return False
    written = resolve_param_paths(interface.writes, params, context)
    return all(os.path.exists(one) or one in removed_files for one in written)


def resolve_param_paths(
    param_names: tuple[str, ...], params: "Mapping[str, Json]", context: NodeContext
) -> tuple[str, ...]:
    """Return the paths of the files that these parameters name."""
    return tuple(str(context.path(str(params[name]))) for name in param_names if params.get(name) is not None)


def compute_step_fingerprint(
    interface: Interface, params: "Mapping[str, Json]", context: NodeContext, effects_digest: str = ""
) -> str:
    """Return the fingerprint of a result: of the node type, its version, its parameters and the files that it reads.

    The effects digest comes last, so that `differs_only_in_effects` can ignore it.
    """
    uses_folder = interface.reads_world or interface.effect != "pure" or interface.reads
    folder = str(context.folder) if uses_folder else ""
    if interface.limits:
        params = {key: value for key, value in params.items() if key not in interface.limits}
    own = compute_fingerprint(
        interface.type, interface.version, params, _read_file_stamps(interface, params, context), folder
    )
    return f"{own}{_SEPARATOR}{effects_digest}" if interface.reads_world else own


def _read_file_stamps(
    interface: Interface, params: "Mapping[str, Json]", context: NodeContext
) -> list[tuple[int, int, int] | None]:
    """Return size, time of change and inode of each file that the node reads."""
    stamps: list[tuple[int, int, int] | None] = []
    for key in interface.reads:
        given = params.get(key)
        for path in given if isinstance(given, list) else [given]:
            try:
                status = context.path(str(path)).stat()
            except (OSError, ValueError):
                stamps.append(None)
            else:
                stamps.append((status.st_size, status.st_mtime_ns, status.st_ino))
    return stamps


def differs_only_in_effects(step_fingerprint: str, others: Iterable[str]) -> bool:
    """Return True if one of the other fingerprints is the same but for the effects digest."""
    own = step_fingerprint.partition(_SEPARATOR)[0]
    return any(one.partition(_SEPARATOR)[0] == own for one in others)
