"""Programs of schedulers for tests: each notes how it is called, and `crontab` has one file as its crontab."""

from pathlib import Path

_PROGRAMS = {
    "systemctl": 'echo "$*" >> "$HOME/calls"\ncase "$*" in *"$SYSTEMCTL_FAILS"*) echo "no bus" >&2; exit 1;; esac\n',
    "launchctl": 'echo "$*" >> "$HOME/calls"\ncase "$1" in "$LAUNCHCTL_FAILS") echo "denied" >&2; exit 5;; esac\n',
    "crontab": """\
echo "$*" >> "$HOME/calls"
[ -n "$CRONTAB_FAILS" ] && { echo "crontab: you are not allowed" >&2; exit 1; }
case "$1" in
  -l) [ -f "$HOME/tab" ] || { echo "no crontab for me" >&2; exit 1; }; cat "$HOME/tab";;
  -) cat > "$HOME/tab";;
esac
""",
}
NOTHING_FAILS = {"SYSTEMCTL_FAILS": "nothing at all", "LAUNCHCTL_FAILS": "nothing at all"}
"""The environment in which the programs succeed."""


def write_fake_programs(folder: Path, *names: str) -> None:
    """Write these programs to a folder for PATH."""
    folder.mkdir(exist_ok=True)
    for name in names:
        (folder / name).write_text(f"#!/bin/sh\n{_PROGRAMS[name]}")
        (folder / name).chmod(0o755)
