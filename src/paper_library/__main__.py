"""`paper-library` and `python -m paper_library`."""

import sys


def main() -> None:
    """Run the command line with the arguments of the process."""
    from paper_library.cli.command import run_command

    run_command(sys.argv[1:])


if __name__ == "__main__":
    main()
