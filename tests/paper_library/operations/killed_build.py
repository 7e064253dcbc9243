"""Builds that are killed with SIGKILL before their nth system call."""

import os
import signal
import sys
from collections.abc import Sequence
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

_WATCHED: Final = frozenset(
    {"open", "os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.scandir", "shutil.rmtree", "ctypes.dlopen"}
    | {"sqlite3.connect", "os.chmod", "ctypes.dlsym"}
)
_forks: Final = get_context("forkserver")
_forks.set_forkserver_preload(["paper_library.service.build.builder", __name__])


def build_until_killed(inputs: Sequence[Path], target: Path, moment: int) -> bool:
    """Build in a process that is killed at `moment`. Return False if the build ended before."""
    child = _forks.Process(target=_build_and_kill_itself, args=(inputs, target, moment))
    child.start()
    child.join(30)
    code = child.exitcode
    child.close()
    assert code in (0, -signal.SIGKILL), code
    return code != 0


def _build_and_kill_itself(inputs: Sequence[Path], target: Path, moment: int) -> None:
    from paper_library.service.build.builder import build_shelf

    asked = 0

    def count(event: str, details: tuple[Any, ...]) -> None:
        nonlocal asked
        if event in _WATCHED and not str(details[:1]).startswith(f"('{sys.prefix}"):
            asked += 1
            if asked == moment:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(count)
    build_shelf(inputs, target)
    # The shutdown of the interpreter is not part of the build.
    os._exit(0)
