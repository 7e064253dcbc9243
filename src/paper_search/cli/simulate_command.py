"""`paper-search simulate`: replay a finished screening in another order, and measure how early it finds papers."""

import asyncio
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.language.messages import plural
from uraniborg.kernel.terminal.output_streams import print_json
from uraniborg.kernel.terminal.page import Page
from uraniborg.kernel.terminal.typer_app import JsonOption, Quiet

if TYPE_CHECKING:
    from paper_search.domain.screening.replay import ReplayReply, ScreenedPaper

File = Annotated[Path, typer.Argument(metavar="FILE", help="A CSV or RIS file of ASReview, or JSON lines.")]
OrderOption = Annotated[str, typer.Option("--order", metavar="NAME", help="learned, question or random.")]
Question = Annotated[
    str | None,
    typer.Option(
        "--question", metavar="TEXT", help="The question to rank by. Default: the title of the included paper drawn."
    ),
]
Seed = Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Draws the two papers that are known before.")]
Plot = Annotated[Path | None, typer.Option("--plot", metavar="FILE", help="Draw the curve of recall into this SVG.")]


def simulate(
    file: File,
    order: OrderOption = "learned",
    question: Question = None,
    seed: Seed = 0,
    plot: Plot = None,
    quiet: Quiet = False,
    json: JsonOption = False,
) -> None:
    """Replay a finished screening, and measure how early an order finds the included papers.

    One included and one excluded paper are known before and left out of the figures. `learned` ranks anew after each
    paper, `question` ranks once by a question, `random` not at all. FILE has title, abstract and a label for each
    paper; with references, `learned` uses them too.

    Examples:
    - `paper-search simulate labels.csv`
    - `paper-search simulate labels.jsonl --seed 3 --plot recall.svg --json`
    - `paper-search simulate labels.ris --order question --question "shift work"`
    """
    from paper_search.domain.screening.labelled_files import read_labelled_file
    from paper_search.domain.screening.replay import (
        ORDERS,
        draw_priors,
        order_by_learning,
        order_randomly,
        summarize_replay,
    )
    from uraniborg.kernel.store.files import check_output, display_path
    from uraniborg.kernel.terminal.progress import Progress

    if order not in ORDERS:
        allowed = ", ".join(ORDERS)
        raise InvalidInput(f"There is no order '{order[:40]}'.", hint=f"Use one of: {allowed}.", allowed=[*ORDERS])
    chosen = order
    if question is not None and chosen != "question":
        raise InvalidInput(f"The order {chosen} uses no question.", hint="Add --order question.")
    check_output(plot)
    name = display_path(file)
    try:
        labelled = read_labelled_file(file.read_bytes(), name)
    except OSError as error:
        raise InvalidInput(f"'{name}' cannot be read: {error.strerror}.", hint="Name a file of labels.") from None
    papers = labelled.papers
    try:
        priors = draw_priors(papers, seed)
    except ValueError as error:
        included = sum(paper.included for paper in papers)
        excluded = len(papers) - included
        raise InvalidInput(
            str(error),
            hint=f"'{name}' has {plural(included, 'included paper')} and {excluded:,} excluded. Check its labels.",
        ) from None
    asked = _choose_question(question, papers[priors[0]]) if chosen == "question" else None
    if asked is not None:
        presented = _rank(papers, priors, asked)
    elif chosen == "random":
        presented = order_randomly(papers, priors, seed)
    else:
        with Progress("Screening", is_quiet=quiet, as_json=json) as progress:
            presented = order_by_learning(papers, priors, seed, partial(progress.report_count, "papers"))
    reply = summarize_replay(papers, presented, priors, chosen, seed, labelled.undecided)
    if asked is not None:
        reply["question"] = asked
    if plot:
        _draw(plot, [papers[row].included for row in presented], reply, name)
        reply["plot"] = str(plot)
    if json:
        print_json(reply)
    else:
        _print(reply)


def _choose_question(question: str | None, included: "ScreenedPaper") -> str:
    from paper_search.workflow.input_checks import check_query

    if question is not None:
        return check_query(question)
    if not any(character.isalnum() for character in included.title):
        raise InvalidInput(
            f"The included paper '{included.id[:40]}' has no title to ask for.", hint='Add --question "…".'
        )
    return included.title


def _rank(papers: "Sequence[ScreenedPaper]", priors: Sequence[int], question: str) -> list[int]:
    from paper_search.domain.screening.replay import order_by_question
    from paper_search.skills.intent_parser import IntentParser
    from uraniborg.kernel.clock import SystemClock

    clock = SystemClock()
    intent = asyncio.run(IntentParser(clock=clock).parse(question))
    return order_by_question(papers, priors, intent, clock.now().year)


def _draw(path: Path, marks: Sequence[bool], reply: "ReplayReply", name: str) -> None:
    from paper_search.domain.screening.recall_plot import draw_recall_curve
    from uraniborg.kernel.store.files import write_output
    from uraniborg.kernel.terminal.styled_text import mask_and_escape_text

    title = f"{mask_and_escape_text(name)}: {reply['order']} order, seed {reply['seed']}"
    write_output(path, draw_recall_curve(marks, reply["stop"]["screened"], title))


def _print(reply: "ReplayReply") -> None:
    page = Page(sys.stdout)
    stop = reply["stop"]
    left_out = f"; {reply['undecided']:,} without a label left out" if reply["undecided"] else ""
    question = [("question", reply["question"])] if "question" in reply else []
    rows = [
        ("papers", f"{reply['papers']:,}, {reply['included']:,} included{left_out}"),
        *question,
        ("loss", f"{reply['loss']:.3f}   (0 is best, .5 is random)"),
        ("WSS@95", f"{reply['wss95']:.3f}"),
        ("recall at 10 %", f"{reply['recall_10']:.3f}"),
        ("recall at 20 %", f"{reply['recall_20']:.3f}"),
        ("mean rank", f"{reply['atd']:.3f} of the papers"),
        ("stop rule", f"after {stop['screened']:,} papers ({stop['share']:.0%}), {stop['recall']:.1%} found"),
    ]
    page.write_table(rows, indent=0, last_cell="wrapped")
    if "plot" in reply:
        Page(sys.stderr).write_message(f"Wrote {reply['plot']}.")
