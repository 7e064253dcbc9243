"""The command: `python -m paper_search QUERY…`."""

import sys

USAGE = "Usage: python -m paper_search <query> [--help for all options]"


def main() -> None:
    if len(sys.argv) < 2:
        sys.stderr.write(USAGE + "\n")
        sys.exit(1)
    from paper_search.cli import run  # arguments are looked at before anything heavy is imported

    run(sys.argv[1:])


if __name__ == "__main__":
    main()
