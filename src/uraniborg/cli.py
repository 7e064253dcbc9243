"""`uraniborg`: run the commands of every part, and those for all parts."""

import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated, Final

import typer

from uraniborg.kernel.terminal.command_runner import UsageError, is_completion_request, print_version, run_typer_app
from uraniborg.kernel.terminal.typer_app import CommandLine, JsonOption, Limit, Quiet, Yes

PARTS: Final = {
    "search": ("paper-search", "paper_search.cli.command"),
    "library": ("paper-library", "paper_library.__main__"),
    "universe": ("universe", "universe.__main__"),
    "flow": ("pflow", "pflow.__main__"),
}
"""The command of each part and the module with its `main`."""

SERVERS: Final = {
    "paper-search": ("paper-search-mcp", "paper_search.mcp_server", ()),
    "pflow": ("pflow", "pflow.__main__", ("mcp", "serve")),
    "paper-library": ("paper-library", "paper_library.__main__", ("serve",)),
    "universe": ("universe", "universe.__main__", ("serve",)),
}
"""The command of each MCP server, the module with its `main`, and its arguments."""

_HELP: Final = """
A research station you share with your agent.

Start with `uraniborg demo`: no network and no key needed.

Examples:
- `uraniborg demo`
- `uraniborg search run atmospheres of the TRAPPIST-1 planets since 2016`
- `uraniborg connect claude-code`
- `uraniborg inbox`
"""

app = CommandLine(_HELP)
_PARTS_PANEL: Final = "Parts"


@app.command("search", rich_help_panel=_PARTS_PANEL)
def list_search_in_help() -> None:
    """Find papers in many sources, with your approval (`paper-search`)."""


@app.command("library", rich_help_panel=_PARTS_PANEL)
def list_library_in_help() -> None:
    """Build, search and serve a shelf of papers (`paper-library`)."""


@app.command("universe", rich_help_panel=_PARTS_PANEL)
def list_universe_in_help() -> None:
    """Simulate universes and test claims in them (`universe`)."""


@app.command("flow", rich_help_panel=_PARTS_PANEL)
def list_flow_in_help() -> None:
    """Run, resume and save workflows (`pflow`)."""


@app.command()
def serve(
    server: Annotated[
        str | None,
        typer.Argument(metavar="SERVER", help="Only this MCP server: paper-search, pflow, paper-library or universe."),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            min=0, max=65_535, metavar="N", help="The port of the API; the others keep theirs.", show_default="8420"
        ),
    ] = None,
    open_browser: Annotated[bool, typer.Option("--open", help="Open the console in the browser.")] = False,
    new_token: Annotated[
        bool, typer.Option("--new-token", help="Replace the token, and sign out every browser.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Serve everything on this machine: the web console with its API, and the MCP servers over HTTP.

    With the name of a server, run only that one; all further arguments are passed to it.

    Examples:
    - `uraniborg serve`
    - `uraniborg serve --open`
    - `uraniborg serve paper-search`
    - `uraniborg serve paper-library shelf`
    """
    if server is not None:
        raise UsageError(f"There is no server '{server}'.", hint=f"Servers: {', '.join(SERVERS)}.")
    from uraniborg.servers.command import run_serve

    run_serve(port, open_browser=open_browser, new_token=new_token, as_json=json)


@app.command()
def demo(
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FOLDER",
            help="Run as a script and export to this folder.",
            show_default="demo-output",
        ),
    ] = None,
    script: Annotated[bool, typer.Option("--script", help="Run all steps in the terminal, without questions.")] = False,
    restart: Annotated[bool, typer.Option("--restart", help="Forget the steps of an earlier demo.")] = False,
    years: Annotated[
        float | None,
        typer.Option(
            metavar="N", min=0.1, max=100, help="Run as a script with N-body runs of this span.", show_default="10"
        ),
    ] = None,
    open_browser: Annotated[bool, typer.Option("--open", help="Open the story in the browser.")] = False,
    json: JsonOption = False,
) -> None:
    """Answer a question with all parts: is TRAPPIST-1's chain stable if planet h is twice as heavy?

    Prints the address of a page on which you click through the steps; you can leave and continue later. Without a
    terminal, all steps run as a script. No network and no key are needed. The runs for ten years take about a minute on
    two cores.

    Examples:
    - `uraniborg demo`
    - `uraniborg demo --script --output out`
    """
    from uraniborg.story.browser import run_demo  # imported only by the command that needs it

    run_demo(output, is_script=script, is_restart=restart, years=years, open_browser=open_browser, as_json=json)


@app.command()
def inbox(
    decision_id: Annotated[
        str | None,
        typer.Argument(metavar="ID", help="Show this question in full. An id as listed, or its first characters."),
    ] = None,
    decided: Annotated[
        bool, typer.Option("--decided", help="List the questions that were decided: by whom, how and when.")
    ] = False,
    limit: Limit = 50,
    json: JsonOption = False,
) -> None:
    """List the questions that wait for your decision.

    Examples:
    - `uraniborg inbox`
    - `uraniborg inbox 3f6c1a2b`
    - `uraniborg inbox --decided --limit 10`
    """
    from uraniborg.inbox_commands import show_decisions, show_inbox, show_question

    if decision_id is not None:
        show_question(decision_id, as_json=json)
    elif decided:
        show_decisions(limit, as_json=json)
    else:
        show_inbox(as_json=json)


@app.command()
def decide(
    decision_id: Annotated[
        str, typer.Argument(metavar="ID", help="An id as `uraniborg inbox` lists it, or its first characters.")
    ],
    action: Annotated[str, typer.Argument(metavar="ACTION", help="approve, edit or reject.")],
    data: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A JSON file with the data of an edit or reject; - for stdin.")
    ] = None,
    note: Annotated[
        str | None, typer.Option(metavar="TEXT", help="A note in your own words; it guides the next round.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Answer a question, whichever process asked it.

    Examples:
    - `uraniborg decide 3f6c1a2b:0 approve`
    - `uraniborg decide 3f6c1a2b:1 reject --note "more on evaluation"`
    """
    from uraniborg.inbox_commands import record_decision

    record_decision(decision_id, action, data, note, as_json=json)


@app.command()
def connect(
    client: Annotated[
        str | None, typer.Argument(metavar="CLIENT", help="claude-code, claude-desktop, cursor, vscode, codex, …")
    ] = None,
    server: Annotated[
        list[str] | None, typer.Option("--server", metavar="NAME", help="Only this server; repeatable.")
    ] = None,
    remove: Annotated[bool, typer.Option("--remove", help="Remove our servers from the client.")] = False,
    print_only: Annotated[bool, typer.Option("--print", help="Print the entries and change nothing.")] = False,
    socket: Annotated[
        bool, typer.Option("--socket", help="Unix sockets in place of ports; vscode 1.106 or newer.")
    ] = False,
    yes: Yes = False,
    json: JsonOption = False,
) -> None:
    """Connect an MCP client to the four servers, or list the clients.

    The change is shown before it is written, and the file before it is kept as a backup.

    Examples:
    - `uraniborg connect`
    - `uraniborg connect claude-code`
    - `uraniborg connect codex --server paper-search --yes`
    - `uraniborg connect cursor --remove`
    - `uraniborg connect vscode --socket`
    """
    from uraniborg.connect.command import run_connect

    run_connect(
        client,
        server,
        remove=remove,
        print_only=print_only,
        use_sockets=socket,
        skip_confirmation=yes,
        as_json=json,
    )


@app.command()
def bridge(
    url: Annotated[str, typer.Argument(metavar="URL", help="The address of an MCP server.")],
    server: Annotated[
        str | None,
        typer.Option("--server", metavar="NAME", help="Our server at another address than that of the settings."),
    ] = None,
) -> None:
    """Connect stdin and stdout to an MCP server at an address.

    For clients that only start programs. Our servers on this machine get a credential.

    Examples:
    - `uraniborg bridge http://127.0.0.1:8421/mcp`
    """
    from uraniborg.connect.stdio_bridge import run_bridge

    run_bridge(url, server=server)


@app.command()
def doctor(
    online: Annotated[bool, typer.Option("--online", help="Also send a short query to each source.")] = False,
    json: JsonOption = False,
    quiet: Quiet = False,
) -> int:
    """Check programs, folders, stored data, ports, clients and keys. Exit with 4 if a check fails.

    Examples:
    - `uraniborg doctor`
    - `uraniborg doctor --online --json`
    """
    from uraniborg.installation.command import run_and_print_checks

    return run_and_print_checks(online=online, as_json=json, quiet=quiet)


@app.command()
def paths(json: JsonOption = False) -> None:
    """Print where data, cache, configuration and workflows are. URANIBORG_HOME moves all of them.

    Examples:
    - `uraniborg paths --json`
    """
    from uraniborg.installation.command import print_locations

    print_locations(as_json=json)


@app.command()
def settings(
    part: Annotated[str | None, typer.Argument(metavar="PART", help="search, library, universe or pflow.")] = None,
    all_settings: Annotated[bool, typer.Option("--all", help="Also print settings that have their default.")] = False,
    json: JsonOption = False,
) -> None:
    """Print each setting, its value and where the value comes from. Secrets are masked.

    Examples:
    - `uraniborg settings`
    - `uraniborg settings library --all`
    """
    from uraniborg.installation.command import print_settings

    print_settings(part, include_defaults=all_settings, as_json=json)


@app.command()
def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The archive to write, such as uraniborg.tar.gz.")],
    replace: Annotated[bool, typer.Option("--replace", help="Replace the file if it exists.")] = False,
    json: JsonOption = False,
    quiet: Quiet = False,
) -> None:
    """Write all sessions, decisions, universes, workflows and settings into one file. Servers may run.

    Examples:
    - `uraniborg backup uraniborg.tar.gz`
    """
    from uraniborg.installation.command import write_and_print_backup

    write_and_print_backup(file, replace=replace, as_json=json, quiet=quiet)


@app.command()
def changes(limit: Limit = 50, json: JsonOption = False) -> None:
    """List who deleted, restored, connected, signed in or changed a setting, and when; the last change first.

    Also lists who wrote, scheduled and cancelled workflows. What was done in a search or a universe is listed there.

    Examples:
    - `uraniborg changes`
    - `uraniborg changes --limit 10 --json`
    """
    from uraniborg.installation.command import print_changes

    print_changes(limit, as_json=json)


@app.command()
def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file that `uraniborg backup` wrote.")],
    replace: Annotated[bool, typer.Option("--replace", help="Move the present data aside first.")] = False,
    json: JsonOption = False,
    quiet: Quiet = False,
) -> None:
    """Restore a backup. Stop all servers first.

    Examples:
    - `uraniborg restore uraniborg.tar.gz`
    """
    from uraniborg.installation.command import restore_and_print_backup

    restore_and_print_backup(file, replace=replace, as_json=json, quiet=quiet)


@app.command()
def export(
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The folder to write, or a file ending in .zip.")
    ],
    session: Annotated[list[str] | None, typer.Option(metavar="ID", help="A search; repeatable.")] = None,
    shelf: Annotated[list[str] | None, typer.Option(metavar="NAME", help="A shelf; repeatable.")] = None,
    workflow: Annotated[list[str] | None, typer.Option(metavar="NAME", help="A workflow; repeatable.")] = None,
    run: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="A run of a workflow, with the workflow; repeatable.")
    ] = None,
    universe: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="A universe with its log; repeatable.")
    ] = None,
    job: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="An N-body run or another job of a universe; repeatable.")
    ] = None,
    title: Annotated[
        str | None, typer.Option(metavar="TEXT", help="The title of the bundle.", show_default="what it has")
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Replace the bundle if it exists.")] = False,
    sign: Annotated[bool, typer.Option("--sign", help="Sign the bundle with your key.")] = False,
    json: JsonOption = False,
    quiet: Quiet = False,
) -> None:
    """Write work as a bundle that others can read, check and repeat: an RO-Crate with digests.

    The bundle has bibliographies, the search log, values with their sources, workflows and runs, universes with their
    logs, starts and results of measurements, plots, and a methods paragraph. Without a choice, it is the bundle of the
    last story of `uraniborg demo`. The texts of papers are not exported.

    Examples:
    - `uraniborg export -o bundle.zip`
    - `uraniborg export -o review --session 3f6c1a2b --shelf trappist-1`
    - `uraniborg export -o runs.zip --universe t1 --job job_4f2a --run run_81c0`
    - `uraniborg export -o t1.zip --universe t1 --sign`
    """
    from uraniborg.bundle.command import choose_and_export
    from uraniborg.story.finished_bundle import read_story_bundle

    choose_and_export(
        output,
        {"searches": session, "shelves": shelf, "workflows": workflow, "runs": run, "universes": universe, "jobs": job},
        read_story_bundle,
        title=title,
        replace=replace,
        sign=sign,
        as_json=json,
        quiet=quiet,
    )


@app.command()
def verify(
    bundle: Annotated[
        Path, typer.Argument(metavar="BUNDLE", help="A folder or .zip file that `uraniborg export` wrote.")
    ],
    digests_only: Annotated[
        bool, typer.Option("--digests-only", help="Check digests and metadata, and repeat nothing.")
    ] = False,
    signer: Annotated[
        str | None,
        typer.Option(
            metavar="KEY", help="Require the signature of this public key, ed25519:…, and accept what it vouches for."
        ),
    ] = None,
    max_seconds: Annotated[
        float,
        typer.Option(metavar="N", min=0, help="Check for at most this many seconds. The rest is not checked."),
    ] = 1_800,
    json: JsonOption = False,
    quiet: Quiet = False,
) -> int:
    """Check a bundle: everything in it is made again from its records, or named as not checked.

    Measurements are repeated within their error, pure workflow nodes with their inputs, universes from their logs, and
    texts, tables and plots are written again. No program, network, model or code of the bundle is used. Exit with 0 if
    all matched, with 6 if nothing differs and some was not repeated or not checked, and with 1 if something differs.

    Who did something and when can only be stated. It is not checked, so that a bundle without the signature of --signer
    never ends with 0. With that signature it is stated by the signer, which does not prevent 0.

    Examples:
    - `uraniborg verify bundle.zip`
    - `uraniborg verify demo-output --json`
    - `uraniborg verify t1.zip --signer ed25519:Qx…`
    """
    from uraniborg.bundle.command import verify_and_print
    from uraniborg.story.finished_bundle import STORY

    return verify_and_print(
        bundle,
        repeat=not digests_only,
        signer=signer,
        more=[STORY],
        seconds=max_seconds,
        as_json=json,
        quiet=quiet,
    )


@app.command()
def key(
    create: Annotated[bool, typer.Option("--create", help="Create your key, in a private file.")] = False,
    json: JsonOption = False,
) -> None:
    """Print your public key, which others give to `uraniborg verify --signer`.

    Examples:
    - `uraniborg key --create`
    - `uraniborg key --json`
    """
    from uraniborg.bundle.command import print_key

    print_key(create=create, as_json=json)


@app.command("version")
def show_version(json: JsonOption = False) -> None:
    """Print the version.

    Examples:
    - `uraniborg version --json`
    """
    print_version("uraniborg", as_json=json)


def main() -> None:
    """Run the command of a part, or one of ours."""
    program = "ubg" if Path(sys.argv[0]).stem == "ubg" else "uraniborg"
    arguments = sys.argv[1:]
    if is_completion_request(program):
        arguments = _delegate_completion(program)
    if arguments and arguments[0] in PARTS:
        name, module = PARTS[arguments[0]]
        sys.argv = [name, *arguments[1:]]
        import_module(module).main()
        return
    if arguments[:1] == ["serve"] and arguments[1:] and arguments[1] in SERVERS:
        name, module, first = SERVERS[arguments[1]]
        sys.argv = [name, *first, *arguments[2:]]
        import_module(module).main()
        return
    run_typer_app(app, arguments, name=program)


def _delegate_completion(program: str) -> list[str]:
    """Return the part whose command a shell completes, after turning the request into one to that part."""
    from uraniborg.kernel.terminal.command_runner import read_completed_command, shift_completion_request

    part = read_completed_command()
    if part not in PARTS:
        return []
    shift_completion_request(program, PARTS[part][0])
    return [part]
