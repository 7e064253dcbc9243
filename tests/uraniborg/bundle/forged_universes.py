"""Forgeries of universes: logs, states, tables of values, and sources."""

import csv
import io
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import orjson

from tests.uraniborg.bundle.forging import edit_json, edit_lines, replace, tells
from universe.domain.command_parser import parse_command
from universe.domain.provenance.bibliography import collect_cited_sources, format_bibtex
from universe.domain.provenance.citations import add_universe_to_set_by_records
from universe.domain.provenance.provenance_tracking import ChangeOrigin
from universe.domain.reducer import reduce
from universe.domain.state import EMPTY, State, check_and_copy_plain_state, make_state_from_plain
from uraniborg.bundle.universe_pieces import list_value_rows, write_value_table

BASE: Final = "universes/trappist-1"
BRANCH: Final = "universes/h-times-2"
METHODS: Final = "methods.md"
ADA, GRACE = "Ada", "Grace"
MASS: Final = "9.791375277253587e-7"
"""The mass of TRAPPIST-1 h as its log writes it."""


def write_log(folder: Path, universe: str, change: Callable[[str], str]) -> None:
    """Change the log of a universe as text, and make every file that follows from it anew, with the program itself."""
    log = folder / universe / "log.jsonl"
    log.write_text(change(log.read_text(encoding="utf-8")), encoding="utf-8")
    state = EMPTY
    for line in log.read_bytes().splitlines():
        state = apply(state, orjson.loads(line))
    plain = add_universe_to_set_by_records(state.to_plain(), find_id(folder, universe))
    edit_json(folder, f"{universe}/universe.json", lambda document: document.update(state=plain))
    before = count_statuses(folder, universe)
    (folder / universe / "values.csv").write_text(write_value_table(list_value_rows(plain, None)), encoding="utf-8")
    (folder / universe / "sources.bib").write_text(format_bibtex(collect_cited_sources(plain["stars"])))
    replace(folder, METHODS, before, count_statuses(folder, universe))


def apply(state: State, entry: Any) -> State:
    if entry["kind"] == "restore":
        return make_state_from_plain(check_and_copy_plain_state(entry["state"]))
    return reduce(state, parse_command(entry["command"]), ChangeOrigin(entry["version"], entry["author"])).state


def find_id(folder: Path, universe: str) -> str:
    """Return the id of a universe, which the records of its newest changes name."""
    document = orjson.loads((folder / universe / "universe.json").read_bytes())
    records = [record for body in document["state"]["stars"].values() for record in body.get("setBy", {}).values()]
    return next(record["universe"] for record in records if record["version"] == document["version"])


def count_statuses(folder: Path, universe: str) -> str:
    """Return the numbers of values by status as methods.md states them."""
    with (folder / universe / "values.csv").open(newline="") as stream:
        counts = Counter(row["status"] for row in csv.DictReader(stream))
    return ", ".join(f"{count} {status}" for status, count in counts.most_common())


def write_both_logs(folder: Path, change: Callable[[str], str]) -> None:
    """Change the log of the universe, and let its branch start from what follows."""
    write_log(folder, BASE, change)
    state = orjson.loads((folder / BASE / "universe.json").read_bytes())["state"]

    def start(text: str) -> str:
        first, *others = text.splitlines(keepends=True)
        return orjson.dumps({**orjson.loads(first), "state": state}).decode() + "\n" + "".join(others)

    write_log(folder, BRANCH, start)


def edit_rows(folder: Path, path: str, change: Callable[[list[list[str]]], object]) -> None:
    """Change the rows of a table, of which the first has the names of the columns."""
    rows = list(csv.reader(io.StringIO((folder / path).read_text(), newline="")))
    change(rows)
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\n").writerows(rows)
    (folder / path).write_text(out.getvalue())


@tells("a mass changed in the log, the state and the table alike, beside the row that states another", "universe", BASE)
def _(folder: Path) -> None:
    path = f"{BASE}/values.csv"
    write_both_logs(folder, lambda text: text.replace(f'"mass":{MASS}', '"mass":3.784335107220405e-7'))

    def change(rows: list[list[str]]) -> None:
        row = next(row for row in rows if row[:2] == ["TRAPPIST-1 h", "mass"])
        row[4:6] = ["supported", "0.326 ± 0.020"]

    before = count_statuses(folder, BASE)
    edit_rows(folder, path, change)
    replace(folder, METHODS, before, count_statuses(folder, BASE))


@tells(
    "a mass and the row that states it changed in the log and in all that follows",
    "universe",
    BASE,
    expected="unproven",
)
def _(folder: Path) -> None:
    write_both_logs(folder, lambda text: text.replace(MASS, "3.784335107220405e-7").replace("0.326", "0.126"))


@tells("a mass of a branch changed in its log and in all that follows", "universe", BRANCH, expected="unproven")
def _(folder: Path) -> None:
    write_log(folder, BRANCH, lambda text: text.replace("1.9582750554507174e-6", "2.9582750554507174e-6"))


@tells("a branch from another state than the universe had", "universe", BRANCH)
def _(folder: Path) -> None:
    write_log(folder, BRANCH, lambda text: text.replace('"radius":0.0001609', '"radius":0.0002609'))


@tells("a value stated twice in place of another one", "universe", f"{BASE}/values.csv")
def _(folder: Path) -> None:
    edit_rows(folder, f"{BASE}/values.csv", lambda rows: rows.__setitem__(-1, rows[-2]))


@tells("a cited value called an unverified claim", "universe", f"{BASE}/values.csv")
def _(folder: Path) -> None:
    replace(folder, f"{BASE}/values.csv", ",AU,cited,", ",AU,unverified claim,")
    replace(
        folder,
        METHODS,
        "50 cited, 14 computed, 7 supported, 1 unverified claim",
        "49 cited, 14 computed, 7 supported, 2 unverified claim",
    )


@tells("a value that a row supports called an unverified claim", "universe", f"{BASE}/values.csv", METHODS)
def _(folder: Path) -> None:
    replace(folder, f"{BASE}/values.csv", ",solar masses,supported,", ",solar masses,unverified claim,", every=True)


@tells("an unverified claim called supported", "universe", f"{BASE}/values.csv")
def _(folder: Path) -> None:
    replace(folder, f"{BASE}/values.csv", ",unverified claim,", ",supported,")
    replace(folder, METHODS, "7 supported, 1 unverified claim", "8 supported")


@tells("methods.md counts more supported values than there are", "universe", METHODS)
def _(folder: Path) -> None:
    replace(folder, METHODS, "7 supported, 1 unverified claim", "8 supported")


@tells("a remark in a column without a heading", "universe", f"{BASE}/values.csv")
def _(folder: Path) -> None:
    edit_rows(folder, f"{BASE}/values.csv", lambda rows: rows[1].append("confirmed by a second team"))


@tells("a column of remarks added to the values", "universe", f"{BASE}/values.csv")
def _(folder: Path) -> None:
    def change(rows: list[list[str]]) -> None:
        for number, row in enumerate(rows):
            row.append("confirmed" if number else "remark")

    edit_rows(folder, f"{BASE}/values.csv", change)


@tells("the DOI of a cited source changed in sources.bib", "universe", f"{BASE}/sources.bib")
def _(folder: Path) -> None:
    replace(folder, f"{BASE}/sources.bib", "10.3847/psj/abd022", "10.1000/182")


@tells("a source added that no value cites", "universe", f"{BASE}/sources.bib")
def _(folder: Path) -> None:
    with (folder / BASE / "sources.bib").open("a") as stream:
        stream.write(
            "\n@article{brahe1598,\n  author = {Tycho Brahe},\n  title = {{Mechanica}},\n  note = {Used for mass}\n}\n"
        )


@tells("a source said to be used for other values", "universe", f"{BASE}/sources.bib")
def _(folder: Path) -> None:
    replace(folder, f"{BASE}/sources.bib", "Used for mass of TRAPPIST-1, ", "Used for mass and age of TRAPPIST-1, ")


@tells("a citation moved to another paper in the log and in all that follows", "universe", BASE, expected="unproven")
def _(folder: Path) -> None:
    write_both_logs(folder, lambda text: text.replace("10.3847/psj/abd022", "10.1000/182"))


@tells("a source's location changed to another row, with the status it had", "universe", BASE)
def _(folder: Path) -> None:
    table = (folder / BASE / "values.csv").read_text()
    row = '"h","0.326 ± 0.020","0.755'
    replace(folder, f"{BASE}/log.jsonl", row, row.replace("0.326", "0.526"))
    replace(folder, f"{BASE}/universe.json", '"0.326 ± 0.020",', '"0.526 ± 0.020",')
    (folder / BASE / "values.csv").write_text(table.replace("h | 0.326 ±", "h | 0.526 ±"))


@tells("a change of the universe by another person", "universe", BASE, METHODS)
def _(folder: Path) -> None:
    replace(folder, f"{BASE}/log.jsonl", f'"author":"{ADA}"', f'"author":"{GRACE}"', every=True)


@tells("all changes of the universe by another person, in every file", "universe", BASE, expected="unproven")
def _(folder: Path) -> None:
    write_both_logs(folder, lambda text: text.replace(ADA, GRACE).replace('"name":"Ada"', '"name":"Grace"'))
    replace(folder, METHODS, f"after 8 commands (8 by {ADA})", f"after 8 commands (8 by {GRACE})")


@tells("the universe created by another person", "universe", BASE, expected="unproven")
def _(folder: Path) -> None:
    def change(lines: list[Any]) -> None:
        lines[0].update(author=GRACE, actor={**lines[0]["actor"], "name": "Grace"})

    edit_lines(folder, f"{BASE}/log.jsonl", change)


@tells("the first changes of a universe made a year earlier", "universe", BASE, expected="unproven")
def _(folder: Path) -> None:
    edit_lines(
        folder, f"{BASE}/log.jsonl", lambda lines: [one.update(at="2020-01-01T00:00:00.000Z") for one in lines[:4]]
    )


@tells("events that the command does not cause", "universe", f"{BASE}/log.jsonl")
def _(folder: Path) -> None:
    events = [{"type": "starRemoved", "id": "trappist-1-h"}]
    edit_lines(folder, f"{BASE}/log.jsonl", lambda lines: lines[4].update(events=events))


@tells("an approval in the log that no program writes", "universe", f"{BASE}/log.jsonl")
def _(folder: Path) -> None:
    edit_lines(folder, f"{BASE}/log.jsonl", lambda lines: lines[4].update(approved_by="Grace"))


@tells(
    "a log with its last state alone, as if nobody had changed the universe", "universe", BRANCH, expected="unproven"
)
def _(folder: Path) -> None:
    state = orjson.loads((folder / BRANCH / "universe.json").read_bytes())["state"]

    def change(lines: list[Any]) -> None:
        lines[:] = [{**lines[0], "state": state}]

    edit_lines(folder, f"{BRANCH}/log.jsonl", change)
    edit_json(folder, f"{BRANCH}/universe.json", lambda document: document.update(version=1))
    replace(folder, METHODS, f"at version 2, after 1 command (1 by {ADA})", "at version 1")


@tells("a universe with another name", "universe", BASE, METHODS)
def _(folder: Path) -> None:
    edit_json(folder, f"{BASE}/universe.json", lambda document: document.update(name="TRAPPIST-1, official"))


@tells("a seal of approval in the document of a universe", "universe", f"{BASE}/universe.json")
def _(folder: Path) -> None:
    edit_json(folder, f"{BASE}/universe.json", lambda document: document.update(verified=True))


@tells("a key twice in the log, first with another mass", "universe", f"{BASE}/log.jsonl")
def _(folder: Path) -> None:
    replace(folder, f"{BASE}/log.jsonl", f'"mass":{MASS}', f'"mass":1.0,"mass":{MASS}')


@tells("a mass above all numbers", "universe", BASE)
def _(folder: Path) -> None:
    replace_text = f'"mass":{MASS}'
    replace(folder, f"{BASE}/log.jsonl", replace_text, '"mass":1e400')
    replace(folder, f"{BASE}/universe.json", '"mass": 9.791375277253587e-7', '"mass": 1e400')
