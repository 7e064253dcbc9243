"""Looking at what there is: workflows, and what they are made of."""

from typing import Annotated

import typer

from pflow.cli.printing import print_json
from pflow.cli.shared import Json, Workflow, app, service
from uraniborg.kernel.logging import redact


@app.command(name="list")
def list_workflows(
    pattern: Annotated[
        str | None,
        typer.Argument(metavar="PATTERN", help="Words of the name or description, or a glob such as 'report-*'."),
    ] = None,
    json: Json = False,
) -> None:
    """List the saved workflows and the drafts."""
    from pflow.cli.listing import listed
    from pflow.cli.workflow_pages import tell_list

    found = redact(listed(service(), pattern))
    print_json(found) if json else tell_list(found, pattern)


@app.command()
def describe(workflow: Workflow, json: Json = False) -> None:
    """Tell all of a workflow, and how to run it.

    What it takes and gives, its nodes, how its runs went, and what is wrong with it.
    """
    from pflow.cli.sources import source_of
    from pflow.cli.workflow_pages import tell_description
    from pflow.describing import described

    asked = service(workflow)
    source = source_of(asked, workflow)
    checked = asked.check(source.found.stored.ir)
    told = {**described(source.found, checked, asked.log(), in_full=True), "source": source.kind}
    print_json(told) if json else tell_description(told, workflow)


@app.command()
def browse(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="WORDS", help="What you need, in a few words; everything if none."),
    ] = None,
    no_workflows: Annotated[bool, typer.Option("--no-workflows", help="Node types only.")] = False,
    json: Json = False,
) -> None:
    """Find nodes and workflows to build with.

    The best come first. A node type that is named exactly is told in full: parameters, outputs, an example.
    """
    from pflow.cli.node_pages import tell_components

    query = " ".join(words or [])
    found = service().browse(query, not no_workflows)
    print_json(found) if json else tell_components(found, query)


@app.command()
def guide(json: Json = False) -> None:
    """Print how workflows are written."""
    import sys

    from pflow.cli.printing import write
    from pflow.guide import guide_text

    print_json({"guide": guide_text()}) if json else write(sys.stdout, guide_text())
