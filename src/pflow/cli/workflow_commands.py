"""Commands that only read: `pflow check`, `graph`, `list`, `describe`, `browse`, `guide`, `history` and `show`."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pflow.cli.app import Workflow, app, open_service_with_usable_home
from pflow.cli.diagnostic_printing import get_error_diagnostics, read_workflow_text
from pflow.errors import InvalidWorkflow
from pflow.service.history import add_other_actors
from pflow.service.operations import Service
from uraniborg.kernel.language.messages import plural
from uraniborg.kernel.logging import redact
from uraniborg.kernel.terminal.output_streams import print_json, write_text
from uraniborg.kernel.terminal.page import Page, print_stderr_message
from uraniborg.kernel.terminal.styled_text import GREEN, RED, YELLOW, StyledText
from uraniborg.kernel.terminal.typer_app import JsonOption, Limit, NameOrPath

if TYPE_CHECKING:
    from pflow.cli.diagnostic_printing import SourceText
    from pflow.cli.workflow_sources import WorkflowSource
    from pflow.domain.ir import model as ir
    from pflow.service.run_replies import RunDetails, RunSummary
    from pflow.service.workflow_replies import CheckedFile, Diagnostic


@app.command(name="check")
def print_workflow_check(workflow: Workflow, json: JsonOption = False) -> int:
    """Check a workflow: list its errors and warnings with their positions.

    Nothing is run. Exits with 0 if the workflow can run, also with warnings, and with 2 if it has errors.

    Examples:
    - `pflow check ./report.json`
    """
    from pflow.cli.workflow_sources import find_workflow_source
    from uraniborg.kernel.logging import redact

    service = open_service_with_usable_home(workflow)
    summary: CheckedFile = {"name": workflow, "path": workflow}
    try:
        source = find_workflow_source(service, workflow)
        checked = service.check_document(source.found.stored.ir)
        summary = _summarize_workflow(source, checked.workflow)
        diagnostics = [one.to_dict() for one in checked.diagnostics]
    except InvalidWorkflow as unreadable:
        diagnostics = get_error_diagnostics(unreadable)
    text = read_workflow_text(service, workflow) if diagnostics else None
    if text:
        summary["path"] = text.display_path
    is_valid = all(one["severity"] != "error" for one in diagnostics)
    if json:
        located = [text.copy_with_position(one) if text else one for one in diagnostics]
        print_json(redact({"valid": is_valid, **summary, "diagnostics": located}))
    else:
        _print_check_result(workflow, diagnostics, summary, text)
    return 0 if is_valid else 2


def _summarize_workflow(source: "WorkflowSource", workflow: "ir.Workflow | None") -> "CheckedFile":
    summary: CheckedFile = {"name": source.name, "path": source.found.stored.path}
    if workflow is not None:
        summary["nodes"], summary["inputs"] = len(workflow.nodes), len(workflow.inputs)
        summary["outputs"] = len(workflow.outputs)
    return summary


def _print_check_result(
    name_or_path: str, diagnostics: "list[Diagnostic]", summary: "CheckedFile", text: "SourceText | None"
) -> None:
    from pflow.cli.diagnostic_printing import print_diagnostics, summarize_severities

    page = Page()
    print_diagnostics(page, diagnostics, text)
    if any(one["severity"] == "error" for one in diagnostics):
        page.write_line(StyledText(RED, "✗"), f" {name_or_path} is not valid: {summarize_severities(diagnostics)}.")
        return
    parts = (
        ("node", summary.get("nodes", 0)),
        ("input", summary.get("inputs", 0)),
        ("output", summary.get("outputs", 0)),
    )
    about = ", ".join(plural(count, kind) for kind, count in parts)
    if diagnostics:
        page.write_line(
            StyledText(YELLOW, "✓"),
            f" {name_or_path} is valid, with {summarize_severities(diagnostics)}: it can be run. {about}.",
        )
    else:
        page.write_line(StyledText(GREEN, "✓"), f" {name_or_path} is valid: {about}.")


@app.command(name="graph")
def print_or_write_graph(
    workflow: Workflow,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", "--svg", metavar="FILE", help="Draw the workflow as SVG in this file; - for stdout."
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Print a workflow as a Mermaid flowchart, or draw it as SVG.

    Examples:
    - `pflow graph report -o report.svg`
    """
    from pflow.cli.workflow_sources import find_workflow_source
    from pflow.domain.ir.checker import require_valid_workflow
    from pflow.domain.ir.diagrams import draw_mermaid, draw_svg

    service = open_service_with_usable_home(workflow)
    source = find_workflow_source(service, workflow)
    checked = service.check_document(source.found.stored.ir)
    drawable = checked.workflow or require_valid_workflow(checked, workflow)
    if checked.errors:
        print_stderr_message(
            "warning", YELLOW, f"'{workflow}' is not valid: `pflow check {workflow}` lists the errors."
        )
    if output is None:
        flowchart = draw_mermaid(drawable)
        print_json({"name": source.name, "graph": flowchart}) if json else write_text(sys.stdout, flowchart)
        return
    picture = draw_svg(drawable)
    if str(output) == "-":
        print_json({"name": source.name, "svg": picture}) if json else write_text(sys.stdout, picture)
        return
    _write_svg(output, picture)
    print_json({"name": source.name, "path": str(output)}) if json else Page().write_line(
        f"Wrote a drawing of '{workflow}' to {output}."
    )


def _write_svg(path: Path, picture: str) -> None:
    from uraniborg.kernel.errors import InvalidInput
    from uraniborg.kernel.store.files import write_atomic

    try:
        write_atomic(path, picture, access="kept")
    except OSError as exc:
        raise InvalidInput(
            f"'{path.name}' cannot be written: {exc.strerror}.", hint="Name a file in an existing folder."
        ) from None


@app.command(name="list")
def print_workflows(
    pattern: Annotated[
        str | None,
        typer.Argument(metavar="PATTERN", help="Words of the name or description, or a glob such as 'report-*'."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """List the saved workflows and the drafts.

    Examples:
    - `pflow list 'report-*'`
    """
    from pflow.cli.workflow_printing import print_workflow_list
    from pflow.cli.workflow_sources import list_named_workflows

    found = redact(list_named_workflows(open_service_with_usable_home(), pattern))
    print_json(found) if json else print_workflow_list(found, pattern)


@app.command(name="describe")
def print_workflow_description(workflow: Workflow, json: JsonOption = False) -> None:
    """Describe a workflow, and how to run it.

    Prints its inputs, outputs, nodes, runs and problems.

    Examples:
    - `pflow describe report`
    """
    from pflow.cli.workflow_printing import print_description
    from pflow.cli.workflow_sources import find_workflow_source
    from pflow.service.catalog import describe_workflow

    service = open_service_with_usable_home(workflow)
    source = find_workflow_source(service, workflow)
    checked = service.check_document(source.found.stored.ir)
    description = describe_workflow(source.found, checked, service.history.open_log(), in_full=True)
    description["source"] = source.kind
    print_json(description) if json else print_description(description, workflow)


@app.command(name="browse")
def print_matching_components(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="WORDS", help="A few words for your task. Default: list everything."),
    ] = None,
    no_workflows: Annotated[bool, typer.Option("--no-workflows", help="Node types only.")] = False,
    json: JsonOption = False,
) -> None:
    """Find nodes and workflows to build with.

    The best matches come first. The exact name of a node type prints its parameters, outputs and an example.

    Examples:
    - `pflow browse http`
    """
    from pflow.cli.workflow_printing import print_components

    query = " ".join(words or [])
    found = open_service_with_usable_home().browse_components(query, not no_workflows)
    print_json(found) if json else print_components(found, query)


@app.command(name="guide")
def print_guide(json: JsonOption = False) -> None:
    """Print how workflows are written.

    Examples:
    - `pflow guide`
    """
    import sys

    from pflow.service.catalog import read_guide
    from uraniborg.kernel.terminal.output_streams import write_text

    print_json({"guide": read_guide()}) if json else write_text(sys.stdout, read_guide())


@app.command(name="history")
def print_run_history(
    workflow: Annotated[
        str | None, typer.Argument(metavar="NAME|FILE", parser=NameOrPath, help="Runs of this workflow only.")
    ] = None,
    limit: Limit = 20,
    json: JsonOption = False,
) -> None:
    """List the last runs, the newest first.

    Examples:
    - `pflow history report`
    """
    from pflow.cli.run_printing import print_history
    from pflow.cli.workflow_sources import make_logged_name, split_logged_source

    service = open_service_with_usable_home()
    log = service.history.open_log()
    try:
        found = log.list_runs(make_logged_name(workflow) if workflow else None, limit)
        if workflow and not found:
            _require_known_workflow(service, workflow, log.count_runs())
    finally:
        log.close()
    runs: list[RunSummary] = redact([split_logged_source(run) for run in found])
    print_json({"runs": runs}) if json else print_history(runs, workflow)


def _require_known_workflow(service: Service, workflow: str, logged_names: Iterable[str]) -> None:
    """Raise WorkflowNotFound if neither a workflow nor a run has this name, and SecurityError for an invalid name."""
    from pflow.cli.workflow_sources import find_workflow_source, is_file_path, locate_workflow_file
    from pflow.errors import InvalidWorkflow, WorkflowNotFound
    from uraniborg.kernel.language.messages import find_nearest_name

    try:
        if is_file_path(workflow):
            find_workflow_source(service, workflow)
        else:
            locate_workflow_file(service, workflow)
    except InvalidWorkflow:
        return
    except WorkflowNotFound as missing:
        if is_file_path(workflow):
            raise
        nearest = missing.ids.get("nearest") or find_nearest_name(workflow, sorted(logged_names))
        raise WorkflowNotFound(
            f"There is no workflow '{workflow[:80]}', and no run of that name.",
            hint=f"Did you mean '{nearest}'?" if nearest else "`pflow history` lists the runs of all workflows.",
            name=workflow[:80],
            nearest=nearest,
        ) from None


@app.command(name="show")
def show_run(
    run: Annotated[
        str | None,
        typer.Argument(metavar="RUN", help="The id of a run, or its first characters. Default: the last run."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Show a run, node by node.

    Prints durations, inputs, outputs and errors.

    Examples:
    - `pflow show run_4f1c`
    """
    from pflow.cli.run_printing import print_run
    from pflow.cli.workflow_sources import split_logged_source
    from pflow.errors import RunNotFound

    log = open_service_with_usable_home().history.open_log()
    try:
        last = log.list_runs(limit=1) if run is None else []
        if run is None and not last:
            raise RunNotFound("There are no runs yet.", hint="pflow run NAME")
        found: RunDetails = redact(split_logged_source(add_other_actors(log, log.get_run(run or last[0]["id"]))))
    finally:
        log.close()
    print_json(found) if json else print_run(found)
