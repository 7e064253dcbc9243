"""`python -m paper_search QUERY…`: search once, approve everything, print the papers."""

import sys

USAGE = "Usage: python -m paper_search <query>\nSee `python -m paper_search --help` for all options."


def main() -> None:
    """Run the command; without arguments print the usage and exit with 1."""
    if len(sys.argv) < 2:
        sys.stderr.write(USAGE + "\n")
        sys.exit(1)
    from paper_search.cli.search_command import app  # arguments are checked before anything heavy is imported
    from uraniborg.kernel.terminal.command_runner import run_typer_app

    run_typer_app(app, sys.argv[1:], name="python -m paper_search")


if __name__ == "__main__":
    main()
