"""`paper-library`, and `python -m paper_library`."""

import sys


def main() -> None:
    from paper_library.cli import run

    run(sys.argv[1:])


if __name__ == "__main__":
    main()
