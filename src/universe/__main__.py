"""`universe`, and `python -m universe`."""

import sys


def main() -> None:
    from universe.cli import run

    run(sys.argv[1:])


if __name__ == "__main__":
    main()
