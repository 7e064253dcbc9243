"""The answers of the commands and the search server about a data folder, without the wording of messages.

`python -m tests.uraniborg.old_data.answers DATA.tar.xz` adds the answers of the present version to the archive that
`python -m tests.fixtures.data` wrote, as `tests/fixtures/answers-VERSION.tar.xz`.
"""

import json
import sys
import tarfile
import tempfile
from io import BytesIO
from pathlib import Path
from typing import Any, Final, cast

from tests.fixtures.data import HERE
from tests.uraniborg.old_data.folder import OldData
from uraniborg.kernel.version import version

ANSWERS: Final = "answers.json"
_WORDING: Final = {
    "message",
    "hint",
    "hints",
    "error",
    "warnings",
    "notes",
    "note",
    "text",
    "next_step",
    "summary",
    "bibtex",
}
_TIMES: Final = {"age_s", "waiting_s", "expires_at", "last_active", "updated_at", "elapsed_s", "home", "path", "folder"}


def collect_answers(old: OldData) -> dict[str, Any]:
    """Return the answers about everything in the folder, by command."""
    commands: dict[str, tuple[str, ...]] = {
        "inbox": ("uraniborg", "inbox"),
        "workflows": ("pflow", "list"),
        "runs": ("pflow", "history"),
        "universes": ("universe", "list"),
        "verification": ("universe", "verify"),
        "shelf": ("paper-library", "stats", str(old.shelf)),
        "papers": ("paper-library", "search", str(old.shelf), "tidal heating"),
    }
    runs = {name: run_id for name, run_id in old.ids["runs"].items() if run_id.startswith("run_")}
    commands |= {f"run {name}": ("pflow", "show", run_id) for name, run_id in runs.items()}
    commands |= {f"universe {name}": ("universe", "export", name) for name in old.ids["universes"].values()}
    commands |= {f"log {name}": ("universe", "history", name) for name in old.ids["universes"].values()}
    commands |= {f"sources {name}": ("universe", "cite", name) for name in ("trappist", "solar")}
    answers = {name: old.run(*command) for name, command in commands.items()}
    with old.server() as server:
        for name, session_id in old.ids["sessions"].items():
            if name not in ("cut_off", "cut_off_later", "decided_at_terminal"):  # their search continues at once
                answers[f"session {name}"] = server.state(session_id)
    return json.loads(json.dumps(remove_wording(answers)).replace(str(old.folder), "FOLDER"))


def remove_wording(value: Any) -> Any:
    """Return `value` without the keys that hold messages, times of reading or paths."""
    if isinstance(value, dict):
        items = cast("dict[str, Any]", value).items()
        return {key: remove_wording(item) for key, item in items if key not in _WORDING | _TIMES}
    if isinstance(value, list):
        return [remove_wording(item) for item in cast("list[Any]", value)]
    return value


def main() -> None:
    archive = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as scratch:
        answers = json.dumps(collect_answers(OldData(archive, Path(scratch)))).encode()
    output = HERE / f"answers-{version()}.tar.xz"
    with tarfile.open(archive) as data, tarfile.open(output, "w:xz") as packed:
        for member in data:
            packed.addfile(member, data.extractfile(member) if member.isfile() else None)
        packed.addfile(_describe(ANSWERS, len(answers)), BytesIO(answers))
    print(f"{output}: {output.stat().st_size:,} bytes, {len(answers):,} bytes of answers")


def _describe(name: str, size: int) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.size = size
    return member


if __name__ == "__main__":
    main()
