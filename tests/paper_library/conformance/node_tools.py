"""External JavaScript tools from `tools/conformance`. Tests do not install them."""

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Final

from tests.prerequisites import skip_or_fail

MODULES: Final = Path(__file__).resolve().parents[3] / "tools" / "conformance" / "node_modules"
_NEEDED: Final = (22, 19)
_PATIENCE_S: Final = 100


def run(script: str, *arguments: str, home: Path) -> subprocess.CompletedProcess[str]:
    """Return the output of a package's script. Skip the test if the package or a recent Node is missing."""
    path = MODULES / script
    if not path.is_file():
        skip_or_fail("tools/conformance is not installed: run `npm ci` there, with access to the npm registry")
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "NO_UPDATE_NOTIFIER": "1"}
    command = [_find_node(), str(path), *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=_PATIENCE_S, check=False, cwd=home, env=environment
    )


@cache
def _find_node() -> str:
    """Return a Node that is new enough: the one installed beside the tools, or that of the system."""
    for candidate in (str(MODULES / ".bin" / "node"), shutil.which("node")):
        if candidate and _read_version(candidate) >= _NEEDED:
            return candidate
    return skip_or_fail(f"Node {'.'.join(map(str, _NEEDED))} or newer is neither in tools/conformance nor on the path")


def _read_version(node: str) -> tuple[int, ...]:
    try:
        result = subprocess.run([node, "--version"], capture_output=True, text=True, timeout=_PATIENCE_S, check=False)
        return tuple(int(part) for part in result.stdout.strip().removeprefix("v").split(".")[:2])
    except (OSError, ValueError):
        return ()
