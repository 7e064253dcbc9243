"""The output that shows nothing."""

import inspect
import subprocess
import sys

from pflow.domain.run_events import NullOutput, ProgressOutput
from tests.requirements import requirement

PROGRAM = """
from pflow.domain.run_events import NullOutput, ProgressOutput

output: ProgressOutput = NullOutput()
output.on_run_started("greeter", "r1", 2)
output.on_node_started("hello", "echo")
output.on_node_message("hello", "half of it")
output.on_node_finished("hello", "completed", 12, "a note")
output.on_run_finished(True, 12)
"""


@requirement("PF-R11")
def test_the_silent_output_writes_not_a_byte() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, check=False, timeout=30)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_the_silent_output_has_the_methods_of_an_output() -> None:
    report = {
        name: inspect.signature(report) for name, report in vars(ProgressOutput).items() if not name.startswith("_")
    }
    assert len(report) == 5
    assert {name: inspect.signature(getattr(NullOutput, name)) for name in report} == report
