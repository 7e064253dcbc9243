"""The outputs that the functions of built-in nodes declare are those of their interfaces."""

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, get_args, get_origin, get_type_hints

import pytest
from typing_extensions import is_typeddict

from pflow.domain.node_interface import Interface, OutputField
from pflow.nodes.approval import ApprovalOutputs
from pflow.nodes.python import PythonOutputs
from pflow.store.node_registry import Registry
from uraniborg.kernel.json_values import Json, JsonObject

OUTCOMES: Final = {"python": PythonOutputs, "code": PythonOutputs, "approval": ApprovalOutputs}
"""The outputs of types whose functions return an `Outcome`."""
RUN_BY_THE_ENGINE: Final = {"workflow", "batch"}
NAMES: Final = {"Json": Json, "JsonObject": JsonObject, "Context": object}
BUILT_IN: Final = {
    kind: interface
    for kind, interface in Registry(Path("/nowhere")).load().items()
    if interface.source == "builtin" and kind not in RUN_BY_THE_ENGINE
}


def list_declared_outputs(interface: Interface) -> list[Any]:
    """Return the typed dictionaries that the function of a node returns, one for each of its operations."""
    module, _, name = interface.run.partition(":")
    returned = get_type_hints(getattr(importlib.import_module(module), name), localns=NAMES)["return"]
    found = [one for one in [returned, *get_args(returned)] if is_typeddict(one)]
    return found or [OUTCOMES[interface.type]]


def find_differences(declared: list[Any], outputs: Mapping[str, OutputField], path: str) -> list[str]:
    """Return the keys that only the typed dictionaries or only the interface has."""
    fields = {key: kind for one in declared for key, kind in get_type_hints(one, localns=NAMES).items()}
    found = [f"{path}.{key}" for key in fields.keys() ^ outputs.keys()]
    for key in fields.keys() & outputs.keys():
        structure = outputs[key].structure
        kind = get_args(fields[key])[0] if get_origin(fields[key]) is list else fields[key]
        if structure is not None or is_typeddict(kind):
            found += find_differences([kind], structure or {}, f"{path}.{key}")
    return found


@pytest.mark.parametrize("kind", BUILT_IN)
def test_a_function_declares_the_outputs_of_its_interface(kind: str) -> None:
    assert find_differences(list_declared_outputs(BUILT_IN[kind]), BUILT_IN[kind].outputs, kind) == []


def test_the_functions_of_all_built_in_types_are_looked_at() -> None:
    assert len({interface.run for interface in BUILT_IN.values()}) == 23
