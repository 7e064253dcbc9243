"""Large .bib files of many kinds, and the memory that a process needs to read one."""

import subprocess
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path

_READ = """
import re, resource, sys
from pathlib import Path
from paper_library.service.build.readers.bibtex import read_entries
for _ in read_entries(Path(sys.argv[1]), "large.bib"): pass
status = Path("/proc/self/status")  # getrusage counts the process that started this one too
peak = re.search(r"VmHWM:\\s*(\\d+)", status.read_text()) if status.exists() else None
print(peak[1] if peak else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
_WORDS = "galaxies planets dust clouds spectra of the orbit in binary systems "


def measure_peak_memory(path: Path, kind: str, *, megabytes: int) -> float:
    """Return the most megabytes that a process held while it read a .bib file of this kind and size."""
    with path.open("w", encoding="utf-8") as file:
        size = 0
        for part in _generate_parts(kind):
            size += file.write(part)
            if size > megabytes << 20:
                break
    run = subprocess.run(
        [sys.executable, "-c", _READ, str(path)], capture_output=True, text=True, check=True, timeout=900
    )
    path.unlink()
    return int(run.stdout) / 1024


def _generate_parts(kind: str) -> Iterator[str]:
    beginning = {
        "one entry": "@article{a, title = {T}, abstract = {",
        "unclosed": "@article{a, title = {T\n",
        "comment": "@comment{\n",
        "fields": "@article{a, title = {T},\n",
    }
    yield beginning.get(kind, "")
    for number in count():
        match kind:
            case "entries" | "one line" | "children" | "parents":
                yield _make_entry(number, kind)
            case "fields":
                yield "".join(f"field{number}x{one} = {{v}},\n" for one in range(1_000))
            case _:
                yield f"{_WORDS * 100}{number}\n"


def _make_entry(number: int, kind: str) -> str:
    name = "book" if kind == "parents" else "incollection"
    more = ", crossref = {book7}" if kind == "children" else ""
    text = f"@{name}{{{name}{number}, title = {{Title {number}}}, abstract = {{{_WORDS * 150}}}{more}}}"
    return f"{text} " if kind == "one line" else f"{text}\n"
