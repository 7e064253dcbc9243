"""The python node: results as JSON, errors with lines, and limits."""

import asyncio
import json
import os
import time
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pflow.config import Settings
from pflow.domain.ir.python_code import NO_RESULT
from pflow.domain.node import NodeContext
from pflow.domain.node_interface import Interface, parse_interface
from pflow.errors import NodeFailed, NodeTimedOut
from pflow.nodes import python as node
from pflow.service.operations import Service
from tests.pflow.nodes.long_secrets import KEY_FILE, PIECE, TOKEN, add_secrets

run_python: Any = node.run_python
"""Called with parameters of any shape."""


def load_interfaces() -> dict[str, Interface]:
    plain = json.loads((resources.files("pflow.nodes") / "python.json").read_text())["nodes"]
    return {one["type"]: parse_interface(one, source="builtin") for one in plain}


async def run_code(context: NodeContext, code: str, **more: Any) -> Any:
    return await run_python({"code": code, **more}, context)


async def expect_failure(context: NodeContext, code: str, **more: Any) -> Any:
    with pytest.raises(NodeFailed) as caught:
        await run_code(context, code, **more)
    return caught.value


async def test_inputs_are_variables_and_result_comes_back(context: NodeContext) -> None:
    outcome = await run_code(
        context, "result = {'sum': sum(numbers), 'who': who}", inputs={"numbers": [1, 2], "who": "ü"}
    )
    assert outcome.outputs == {
        "result": {"sum": 3, "who": "ü"},
        "stdout": "",
        "stdout_is_binary": False,
        "stderr": "",
        "stderr_is_binary": False,
    }
    assert outcome.action == "default"


async def test_code_without_a_result_gives_null(context: NodeContext) -> None:
    outcome = await run_code(context, "x = 1")
    assert (outcome.outputs["result"], outcome.warnings) == (None, (NO_RESULT,))


@pytest.mark.parametrize("code", ["result = None", "action = 'small'", "exec('result = 1')", "globals()['result'] = 1"])
async def test_code_that_assigns_a_result_or_an_action_is_without_a_warning(context: NodeContext, code: str) -> None:
    assert (await run_code(context, code)).warnings == ()


def test_a_run_warns_once_of_code_that_assigned_no_result(tmp_path: Path) -> None:
    maybe = {"code": "if n > 5: result = n", "inputs": {"n": "${item}"}}
    nodes = [
        {"id": "never", "type": "python", "params": {"code": "x = 1"}},
        {"id": "maybe", "type": "python", "params": maybe, "batch": {"items": [1, 2, 9]}},
    ]
    document = {"nodes": nodes, "edges": [{"from": "never", "to": "maybe"}]}
    result = Service(Settings(home=tmp_path), folder=tmp_path).run_document(document, name="x")
    assert result.warnings == [f"'never': {NO_RESULT}", f"'maybe': {NO_RESULT}"]


async def test_code_chooses_the_edge_to_follow(context: NodeContext) -> None:
    outcome = await run_code(context, "action = 'large' if n > 3 else 'small'\nresult = n", inputs={"n": 5})
    assert (outcome.action, outcome.outputs["result"]) == ("large", 5)


async def test_printed_output_is_separate_from_the_result(context: NodeContext) -> None:
    code = "import sys, os\nprint('{\"result\": 0} ü')\nprint('oops', file=sys.stderr)\nresult = 1\nos.write(1, b'raw')"
    outputs = (await run_code(context, code)).outputs
    assert outputs["result"] == 1
    assert outputs["stdout"] == 'raw{"result": 0} ü\n'
    assert outputs["stderr"] == "oops\n"


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner),
)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=JSON)
def test_every_json_value_goes_in_and_comes_back_the_same(context: NodeContext, value: Any) -> None:
    outcome = asyncio.run(run_code(context, "result = given", inputs={"given": value}))
    assert outcome.outputs["result"] == value


@pytest.mark.parametrize(
    ("code", "message", "hint"),
    [
        ("result = {'a': [1, {2}]}", "result['a'][1] has the type set", "sorted"),
        ("result = {1: 2}", "has the key 1, which is not text", "str(key)"),
        ("result = float('nan')", "result is nan", "None"),
        ("result = [1e999]", "result[0] is inf", "None"),
        ("result = 2**64", "more than 64 bits", "str"),
        ("result = 'a\\ud800'", "lone surrogate", "utf-8"),
        ("result = {'a\\ud800': 1}", "a key of result contains a lone surrogate", "utf-8"),
        ("result = b'x'", "type bytes", "base64"),
        ("import datetime\nresult = datetime.date(2020, 1, 1)", "type date", "isoformat"),
        ("result = object()", "type object", "dicts with text keys"),
        ("result = []\nresult.append(result)", "contains itself", ""),
        ("result = 1\nfor _ in range(500): result = [result]", "200 levels deep", ""),
        ("action = 3", "`action` is int", "action"),
        ("action = ''", "`action` is str", "action"),
    ],
)
async def test_values_that_json_cannot_represent_are_refused_with_an_alternative(
    context: NodeContext, code: str, message: str, hint: str
) -> None:
    failed = await expect_failure(context, f"print('some')\n{code}")
    assert message in failed.message
    assert hint in failed.hint
    assert failed.outputs["stdout"] == "some\n"


async def test_tuples_become_lists_and_subclasses_their_base_types(context: NodeContext) -> None:
    code = (
        "import collections, enum\nclass E(enum.IntEnum):\n A = 1\nresult = [(1, 2), collections.Counter('aab'), E.A]"
    )
    assert (await run_code(context, code)).outputs["result"] == [[1, 2], {"a": 2, "b": 1}, 1]


async def test_an_exception_is_reported_with_its_line_and_the_end_of_its_traceback(context: NodeContext) -> None:
    failed = await expect_failure(context, "def f(x):\n    return 1 / x\n\nprint('before')\nf(0)\n")
    assert failed.message.startswith("The code failed in line 2: ZeroDivisionError: division by zero\n")
    assert 'File "<code>", line 2, in f\n    return 1 / x' in failed.message
    assert "python_child" not in failed.message
    assert failed.ids == {"exception": "ZeroDivisionError", "line": 2}
    assert failed.outputs["stdout"] == "before\n"
    assert 'File "<code>", line 5, in <module>' in failed.outputs["stderr"]


@pytest.mark.parametrize(
    ("code", "line", "exception"),
    [
        ("x = 1\nif x\n", 2, "SyntaxError"),
        ("x = 1\n  y = 2", 2, "IndentationError"),
        ("import no_such_module", 1, "ModuleNotFoundError"),
        ("\ninput()", 2, "EOFError"),
        ("def f(): return f()\nf()", 1, "RecursionError"),
        ("import json\njson.loads('{')", 2, "JSONDecodeError"),
        ("import sys\nsys.exit('no good')", 2, "SystemExit"),
        ("class E(Exception):\n def __str__(self): 1/0\nraise E", 3, "E"),
        ("raise KeyboardInterrupt", 1, "KeyboardInterrupt"),
    ],
)
async def test_any_exception_is_reported_with_the_line_of_the_code(
    context: NodeContext, code: str, line: int, exception: str
) -> None:
    assert (await expect_failure(context, code)).ids == {"exception": exception, "line": line}


async def test_leaving_early_and_in_peace_is_a_success(context: NodeContext) -> None:
    assert (await run_code(context, "import sys\nresult = 1\nsys.exit()\nresult = 2")).outputs["result"] == 1


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("import os; os._exit(3)", "ended with exit code 3 before it was done"),
        ("import os; os._exit(0)", "ended with exit code 0 before it was done"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "was ended by SIGKILL"),
        ("import ctypes; ctypes.string_at(0)", "was ended by SIGSEGV"),
        ("import os, atexit; result = 1; atexit.register(os._exit, 5)", "ended with exit code 5"),
    ],
)
async def test_a_process_that_dies_is_reported_and_ends_no_other(context: NodeContext, code: str, message: str) -> None:
    assert message in (await expect_failure(context, code)).message


async def test_endless_code_is_ended_and_its_line_reported(context: NodeContext) -> None:
    code = "print('begun')\nwhile True:\n    pass"
    with pytest.raises(NodeTimedOut, match=r"still running in line [23] after 1 s") as caught:
        await run_code(context, code, timeout=1)
    assert caught.value.outputs["stdout"] == "begun\n"
    assert caught.value.ids["line"] in (2, 3)


async def test_code_that_will_not_be_stopped_is_killed(context: NodeContext) -> None:
    code = "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('x', flush=True)\nwhile True: pass"
    started_at = time.monotonic()
    with pytest.raises(NodeTimedOut, match="The code was still running after 1 s"):
        await run_code(context, code, timeout=1)
    assert time.monotonic() - started_at >= 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
async def test_a_stopped_child_of_the_code_writes_no_report(context: NodeContext) -> None:
    code = (
        "import os, signal, time\n"
        "reading, writing = os.pipe()\n"
        "child = os.fork()\n"
        "if not child:\n"
        "    os.write(writing, b'ready')\n"
        "    time.sleep(600)\n"
        "os.read(reading, 5)\n"
        "os.kill(child, signal.SIGTERM)\n"
        "os.waitpid(child, 0)\n"
        "result = 'mine'\n"
    )
    assert (await run_code(context, code, timeout=30)).outputs["result"] == "mine"


@pytest.mark.parametrize("code", ["x = 'x' * 10**9", "held = []\nwhile True:\n    held.append('x' * 1000 + str(held))"])
async def test_the_memory_limit_is_enforced_and_reported(context: NodeContext, code: str) -> None:
    failed = await expect_failure(context, code, memory_mb=128)
    assert failed.ids["exception"] == "MemoryError"
    assert "`memory_mb`" in failed.hint


async def test_more_memory_can_be_had(context: NodeContext) -> None:
    code = "result = len('x' * 300_000_000)"
    assert (await run_code(context, code, memory_mb=600)).outputs["result"] == 300_000_000


async def test_limits_are_those_of_the_child_alone(context: NodeContext) -> None:
    code = (
        "import resource as r\n"
        "result = [r.getrlimit(kind)[0] for kind in (r.RLIMIT_AS, r.RLIMIT_CORE)] + [r.getrlimit(r.RLIMIT_CPU)[0] > 7]"
    )
    assert (await run_code(context, code, memory_mb=512, timeout=7)).outputs["result"] == [512 << 20, 0, True]


@pytest.mark.parametrize("name", ["a-b", "1a", "class", "", "__name__", "result", "action"])
async def test_an_input_that_can_be_no_variable_is_refused(context: NodeContext, name: str) -> None:
    failed = await expect_failure(context, "pass", inputs={name: 1})
    assert repr(name) in failed.message
    assert "letters" in failed.hint


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"memory_mb": 1}, "at least 64"),
        ({"timeout": 0}, "`timeout`"),
        ({"inputs": {"a": {1, 2}}}, "without a JSON form"),
    ],
)
async def test_parameters_that_make_no_sense_are_refused(
    context: NodeContext, params: dict[str, Any], message: str
) -> None:
    assert message in (await expect_failure(context, "pass", **params)).message


async def test_a_result_that_is_too_large_is_refused(context: NodeContext, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node, "RESULT_BYTES", 3 << 20)
    assert len((await run_code(context, "result = 'x' * 3_000_000")).outputs["result"]) == 3_000_000
    failed = await expect_failure(context, "result = 'x' * 4_000_000")
    assert "too large: 3.8 MiB as JSON, of 3 MiB at most" in failed.message
    assert "file" in failed.hint


async def test_a_flood_of_prints_does_not_hide_the_result(context: NodeContext) -> None:
    outputs = (await run_code(context, "for i in range(3_000_000): print(i)\nresult = 'done'")).outputs
    assert outputs["result"] == "done"
    assert Path(outputs["stdout_file"]).stat().st_size == outputs["stdout_size"]


async def test_code_runs_in_the_folder_of_the_workflow_apart_from_our_variables(
    context: NodeContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "json.py").write_text("raise RuntimeError('not the library')")
    (tmp_path / "there.txt").write_text("seen")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    code = "import json, sys\nresult = [open('there.txt').read(), __name__, 'pflow' in sys.modules]"
    assert (await run_code(context, code)).outputs["result"] == ["seen", "__main__", False]


async def test_classes_of_the_code_can_be_pickled_and_described(context: NodeContext) -> None:
    code = (
        "from __future__ import annotations\n"
        "import dataclasses, pickle, typing\n"
        "@dataclasses.dataclass\n"
        "class Point:\n    x: int\n"
        "result = [pickle.loads(pickle.dumps(Point(3))).x, typing.get_type_hints(Point)['x'].__name__]"
    )
    assert (await run_code(context, code)).outputs["result"] == [3, "int"]


async def test_cancelling_ends_the_code(context: NodeContext, tmp_path: Path) -> None:
    code = "import os\nopen('pid.part', 'w').write(str(os.getpid()))\nos.rename('pid.part', 'pid')\nwhile True: pass"
    task = asyncio.create_task(run_code(context, code))
    deadline = time.monotonic() + 30
    while not (tmp_path / "pid").exists():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


async def test_both_names_are_the_same_node(context: NodeContext) -> None:
    declared = load_interfaces()
    ours, other = declared["python"], declared["code"]
    assert (ours.run, ours.params, ours.outputs) == (other.run, other.params, other.outputs)
    assert all(one.effect == "idempotent" and one.open_actions for one in declared.values()), "it may write files"
    code = "import sys\nprint('x' * 20_000_000)\nprint('y' * 20_000_000, file=sys.stderr)"
    assert set((await run_code(context, code)).outputs) == set(ours.outputs)


@pytest.mark.parametrize("secret", [TOKEN, KEY_FILE], ids=["long", "of many lines"])
@pytest.mark.parametrize(
    "code",
    [
        "raise ValueError(secret)",
        "{}[secret]",
        "result = {secret: {1}}",
        "result = {secret.encode(): 1}",
        "import os, sys\nsys.stderr.write(secret)\nsys.stderr.flush()\nos._exit(3)",
    ],
)
async def test_no_part_of_a_secret_is_in_an_error(context: NodeContext, code: str, secret: str) -> None:
    failed = await expect_failure(add_secrets(context), code, inputs={"secret": secret})
    assert "***" in failed.message
    assert PIECE not in failed.message + failed.hint


@pytest.mark.parametrize(
    ("code", "hint"),
    [
        ("x = 1\n\nresult = x / 0  # oops", "Line 3 of the code is `result = x / 0  # oops`."),
        ("def f():\n    raise ValueError('no')\nf()", "Line 2 of the code is `raise ValueError('no')`."),
        ("x = 1\x0c\nresult = (", "Line 2 of the code is `result = (`."),
        ("result = price * 2", "Values reach the code as `inputs`, each as a variable of the same name; here: a, b."),
        ("result = a['x']", "here: a, b. Line 1 of the code is `result = a['x']`."),
        ("import no_such_module", "install this one there. Line 1"),
        ("def f():\n    f()\nf()", "It recurses endlessly, or too deep. Line 2"),
        ("import sys\nsys.exit(3)", "to choose an edge, set `action`. Line 2"),
        ("exec('1 / 0')", "Line 1 of the code is `exec('1 / 0')`."),
    ],
)
async def test_a_failure_of_the_code_is_reported_with_its_line_and_a_hint(
    context: NodeContext, code: str, hint: str
) -> None:
    assert hint in (await expect_failure(context, code, inputs={"a": {}, "b": 1})).hint


async def test_code_with_an_undefined_name_and_no_inputs_gets_a_hint_about_inputs(context: NodeContext) -> None:
    assert (
        "`inputs`, each as a variable of the same name; this node has none."
        in (await expect_failure(context, "x")).hint
    )


async def test_a_line_of_the_code_with_a_secret_is_not_shown(context: NodeContext) -> None:
    failed = await expect_failure(add_secrets(context), f"text = '''{KEY_FILE}'''\nraise ValueError")
    assert failed.hint == "See its stderr for details."
    failed = await expect_failure(add_secrets(context), f"{{}}['{TOKEN}']")
    assert "Line 1 of the code is `{}['***']`." in failed.hint


async def test_a_variable_that_the_code_does_not_inherit_is_named_in_the_hint(
    context: NodeContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = "import os\nresult = os.environ['MY_SERVICE_TOKEN']"
    assert "pass_env" not in str((await expect_failure(context, code)).hint)
    monkeypatch.setenv("MY_SERVICE_TOKEN", "not-inherited-here")
    assert (await expect_failure(context, code)).hint == (
        "The code does not inherit MY_SERVICE_TOKEN from pflow's environment. "
        'Pass it: "pass_env": ["MY_SERVICE_TOKEN"].'
    )
