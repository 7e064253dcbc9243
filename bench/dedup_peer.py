"""The peer of the deduplication benchmark: bib-dedupe (MIT licence), in an environment of its own."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

VERSION: Final = "0.11.0"
_RUN: Final = """
import json, os, sys
import pandas
from bib_dedupe.bib_dedupe import block, cluster, match, prep
records = pandas.DataFrame(json.load(sys.stdin))
before = os.times()
pairs = block(prep(records, verbosity_level=0, cpu=1), verbosity_level=0, cpu=1)
groups = cluster(match(pairs, verbosity_level=0, cpu=1), verbosity_level=0)
seconds = sum(os.times()[:4]) - sum(before[:4])
print(json.dumps({"groups": groups, "seconds": seconds}))
"""


def install_peer() -> Path | None:
    """Return the Python of the peer's environment, installed now if needed; None, with a line, if that fails."""
    from uraniborg.kernel.settings import cache_dir

    folder = cache_dir() / "bench" / f"bib-dedupe-{VERSION}"
    python = folder / "bin" / "python"
    if (folder / "installed").exists():
        return python
    print(f"  installing bib-dedupe {VERSION} to compare with (about 200 MB) ...", file=sys.stderr)
    try:
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True, capture_output=True)
        install = [python, "-m", "pip", "install", "-q", f"bib-dedupe=={VERSION}"]
        subprocess.run(install, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        print("  bib-dedupe cannot be installed here: only our own figures are shown")
        return None
    (folder / "installed").touch()
    return python


def deduplicate_with_peer(python: Path, records: list[dict[str, str]]) -> tuple[list[list[str]], float]:
    """Return the groups of the peer by record id, and its seconds of processor time."""
    text = json.dumps(records)
    done = subprocess.run([python, "-c", _RUN], input=text, check=True, capture_output=True, text=True)
    reply: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return reply["groups"], reply["seconds"]
