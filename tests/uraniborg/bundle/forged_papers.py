"""Forgeries of searches and shelves: logs, decisions and bibliographies."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from paper_search.export import export
from paper_search.models import PaperCollection
from tests.uraniborg.bundle.forging import edit_json, remove_files, replace, tell_edits, tell_replacements, tells
from uraniborg.bundle.search_and_workflow_pieces import select_kept_papers

SEARCH: Final = "searches/chain"
SHELF: Final = "shelves/chain"
RESULT: Final = f"{SEARCH}/result.json"
LOG: Final = f"{SEARCH}/search-log.json"
PAGE: Final = f"{SEARCH}/search-log.md"
FLOW: Final = f"{SEARCH}/flow.svg"
DECISIONS: Final = f"{SEARCH}/decisions.json"
METHODS: Final = "methods.md"
SCREENER: Final = "demo (software)"
"""The reviewer whose marks the decision contains."""
AGOL: Final = "Refining the Transit-timing"
ENTRY: Final = (
    "@article{brahe_1598_mechanica,\n  author = {Tycho Brahe},\n  title = {{Mechanica}},\n  year = {1598}\n}\n"
)
REFERENCE: Final = "TY  - JOUR\nID  - brahe_1598_mechanica\nTI  - Mechanica\nAU  - Brahe, Tycho\nPY  - 1598\nER  - \n"


def derive(folder: Path, change: Callable[[Any], object]) -> None:
    """Change the result of the search, and make every file that follows from it anew, with the program itself."""
    edit_json(folder, RESULT, change)
    found = PaperCollection.model_validate_json((folder / RESULT).read_bytes())
    for path, name in ((PAGE, "prisma"), (LOG, "prisma-json"), (FLOW, "prisma-svg")):
        (folder / path).write_text(export(found, name))
    kept = select_kept_papers(found)
    for path, name in (("papers.bib", "bibtex"), ("papers.ris", "ris"), ("papers.csl.json", "csl-json")):
        (folder / SEARCH / path).write_text(export(kept, name))


def add_paper(folder: Path, where: str) -> None:
    for name, text in (("papers.bib", ENTRY), ("papers.ris", REFERENCE)):
        with (folder / where / name).open("a") as stream:
            stream.write(f"\n{text}")
    key = "brahe_1598_mechanica"
    item = {"id": key, "citation-key": key, "type": "article-journal", "title": "Mechanica"}
    edit_json(folder, f"{where}/papers.csl.json", lambda items: items.append(item))


def include_excluded(result: Any) -> None:
    paper = result["excluded_papers"].pop()
    paper["status"] = "include"
    paper["decisions"][-1].update(status="include", reason="Names masses.")
    result["papers"].append(paper)
    result["metadata"]["exclusions"] = []
    result["metadata"]["total_found"] = len(result["papers"])
    log = result["metadata"]["round_logs"][0]
    log["included"] += log["excluded"].pop("by_program")


tell_edits(
    "papers",
    {
        LOG: {
            "a number of the search log changed": lambda log: log.update(included=5),
            "a query in the search log that was never sent": lambda log: log["rounds"][0]["queries"].append(
                "trappist AND tides"
            ),
            "the date of the search changed in the search log": lambda log: log.update(
                date="2020-01-01T00:00:00+00:00"
            ),
        },
        DECISIONS: {
            "a decision of a person said to be one of an agent": lambda one: one[1]["actor"].update(
                kind="agent", name="demo-agent"
            ),
            "the approval of the queries turned into another set of queries": lambda one: one[0]["decision"]["data"][
                "queries"
            ].pop(),
        },
    },
)
tell_replacements(
    "papers",
    {
        FLOW: {
            "a number of the PRISMA diagram changed": ("(n = 24)", "(n = 240)"),
            "the PRISMA diagram without the notice that nothing was searched": (
                "Offline trial, not a search: answers are filtered from",
                "A search of 4 sources, not only of",
            ),
            "a script in the PRISMA diagram": (
                "</svg>",
                "<script>document.body.textContent = 'n = 4000'</script></svg>",
            ),
        },
        PAGE: {
            "a number in the text of the search log changed": ("| Records screened | 5 |", "| Records screened | 50 |")
        },
        f"{SEARCH}/papers.bib": {
            "the DOI of a kept paper changed in papers.bib": ("10.3847/psj/abd022", "10.3847/psj/abd023"),
            "a preamble that reads a file added to papers.bib": (
                "@article",
                '@preamble{"\\input{/etc/passwd}"}\n\n@article',
            ),
        },
        f"{SEARCH}/papers.ris": {
            "the title of a kept paper changed in papers.ris": (AGOL, "Refuting the Transit-timing")
        },
        f"{SHELF}/papers.bib": {
            "a citation of a shelf moved to another paper in papers.bib": ("10.3847/psj/abd022", "10.1000/182")
        },
        f"{SHELF}/papers.ris": {"a year changed in papers.ris of a shelf": ("PY  - 2021", "PY  - 1921")},
        LOG: {
            "a key twice in the search log, first with another number": (
                '"screened": 5',
                '"screened": 500,\n  "screened": 5',
            )
        },
        RESULT: {
            "a key twice in the result, first with another title": (
                f'"title": "{AGOL}',
                f'"title": "Refuted",\n "title": "{AGOL}',
            )
        },
        DECISIONS: {
            "a key twice in the decisions, first with another person": (
                '"decided_by": "Ada"',
                '"decided_by": "Grace",\n  "decided_by": "Ada"',
            )
        },
    },
)


@tells("an excluded paper counted as included", "papers", DECISIONS, "p_8294e7269ee365aa")
def _(folder: Path) -> None:
    derive(folder, include_excluded)
    replace(folder, METHODS, "and 1 excluded; 4 papers are kept", "and 0 excluded; 5 papers are kept")


@tells("an excluded paper included by a decision that was written anew", "papers", RESULT, DECISIONS,
       expected="unproven")  # fmt: skip
def _(folder: Path) -> None:
    derive(folder, include_excluded)
    replace(folder, METHODS, "and 1 excluded; 4 papers are kept", "and 0 excluded; 5 papers are kept")
    new = {"status": "include", "reason": "Names masses."}
    edit_json(
        folder, DECISIONS, lambda one: one[1]["decision"]["marks"]["reviews"][SCREENER].update(p_8294e7269ee365aa=new)
    )


@tells("a search that found three times as many records, in all files made from it", "papers", RESULT,
       expected="unproven")  # fmt: skip
def _(folder: Path) -> None:
    def change(result: Any) -> None:
        metadata = result["metadata"]
        for source in (*metadata["sources"], *metadata["round_logs"][0]["sources"]):
            if source["name"] == "crossref":
                source["received"] += 48
                source["removed"]["duplicate"] += 48
        metadata["round_logs"][0]["identified"] += 48
        metadata["round_logs"][0]["duplicates_within_round"] += 48
        metadata["stage_counts"][0]["count_in"] += 48
        metadata["stage_counts"][0]["count_out"] += 48

    derive(folder, change)
    replace(folder, METHODS, "Of 24 records, 19 were", "Of 72 records, 67 were")


@tells("a source said to have been asked twelve times", "papers", LOG)
def _(folder: Path) -> None:
    def change(log: Any) -> None:
        log["rounds"][0]["sources"][0].update(status="ok", reason=None, calls=12)

    edit_json(folder, LOG, change)


@tells("methods.md says that a replayed recording was a search", "papers", METHODS)
def _(folder: Path) -> None:
    text = (folder / METHODS).read_text()
    first = text.index("Offline trial")
    text = text[:first] + text[text.index(" uraniborg ", first) + 1 :]
    (folder / METHODS).write_text(text.replace("replayed recorded answers of", "searched"))


@tells("a paper added to the kept papers", "papers", f"{SEARCH}/papers.bib", "papers.bib")
def _(folder: Path) -> None:
    add_paper(folder, SEARCH)


@tells("an author of a kept paper exchanged in papers.csl.json", "papers", f"{SEARCH}/papers.csl.json")
def _(folder: Path) -> None:
    name = {"family": "Brahe", "given": "Tycho"}
    edit_json(folder, f"{SEARCH}/papers.csl.json", lambda items: items[0]["author"].__setitem__(0, name))


@tells("a title changed in the result and in all bibliographies", "papers", RESULT, expected="unproven")
def _(folder: Path) -> None:
    derive(folder, lambda result: result["papers"][0].update(title="Refuting the Masses of TRAPPIST-1"))


@tells("a paper's relevance raised", "papers", RESULT, expected="unproven")
def _(folder: Path) -> None:
    derive(folder, lambda result: result["papers"][-1].update(relevance_score=0.999, citation_count=4000))


@tells("a decision attributed to another person", "papers", DECISIONS, expected="unproven")
def _(folder: Path) -> None:
    def change(decisions: Any) -> None:
        for one in decisions:
            one["decided_by"] = one["actor"]["name"] = "Grace"

    edit_json(folder, DECISIONS, change)
    replace(folder, METHODS, "Ada (2)", "Grace (2)")


@tells("a decision attributed to another person in every file", "papers", DECISIONS, expected="unproven")
def _(folder: Path) -> None:
    derive(folder, lambda _: None)
    for path in (DECISIONS, RESULT, LOG, PAGE):
        text = (folder / path).read_text()
        (folder / path).write_text(text.replace('"Ada"', '"Grace"'))
    replace(folder, METHODS, "Ada (2)", "Grace (2)")


@tells("another reason for an exclusion", "papers", DECISIONS)
def _(folder: Path) -> None:
    marks = {"status": "exclude", "reason": "The study is retracted."}
    edit_json(
        folder, DECISIONS, lambda one: one[1]["decision"]["marks"]["reviews"][SCREENER].update(p_8294e7269ee365aa=marks)
    )


@tells("a review that nobody decided", "papers", DECISIONS)
def _(folder: Path) -> None:
    edit_json(folder, DECISIONS, lambda one: one.pop())
    replace(folder, METHODS, "2 decisions: Ada (2)", "1 decision: Ada (1)")


@tells("the decisions left out", "papers", DECISIONS, METHODS)
def _(folder: Path) -> None:
    remove_files(folder, DECISIONS)


@tells("the search left out that methods.md describes", "papers", METHODS)
def _(folder: Path) -> None:
    remove_files(folder, *(f"{SEARCH}/{path.name}" for path in (folder / SEARCH).iterdir()))


@tells("a paper added to a shelf", "papers", SHELF, METHODS)
def _(folder: Path) -> None:
    add_paper(folder, SHELF)


@tells("a citation of a shelf moved to another paper in all bibliographies", "papers", SHELF, expected="unproven")
def _(folder: Path) -> None:
    for name in ("papers.bib", "papers.ris", "papers.csl.json"):
        path = folder / SHELF / name
        text = path.read_text()
        path.write_text(text.replace("10.3847/psj/abd022", "10.1000/182").replace("10.3847/PSJ/abd022", "10.1000/182"))


@tells("another build of a shelf in methods.md", "papers", METHODS, SHELF, expected="unproven")
def _(folder: Path) -> None:
    text = (folder / METHODS).read_text()
    build = text.partition("(build ")[2].partition(")")[0]
    (folder / METHODS).write_text(text.replace(build, "0" * len(build)))


@tells("not-a-number as the relevance of a paper", "papers", SEARCH)
def _(folder: Path) -> None:
    score = json.loads((folder / RESULT).read_text())["papers"][0]["relevance_score"]
    replace(folder, RESULT, f'"relevance_score": {score}', '"relevance_score": NaN')


@tells("a number above all others as the relevance of a paper", "papers", SEARCH)
def _(folder: Path) -> None:
    score = json.loads((folder / RESULT).read_text())["papers"][0]["relevance_score"]
    replace(folder, RESULT, f'"relevance_score": {score}', '"relevance_score": 1e400')
