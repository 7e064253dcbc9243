"""`pflow`, and `python -m pflow`: looks at its arguments first, and loads no more than they need."""

import sys


def main() -> None:
    try:
        _start(sys.argv[1:])
    except KeyboardInterrupt:  # before anything was there to tell of it
        sys.exit(130)


def _start(arguments: list[str]) -> None:
    match arguments:
        case ["--version" | "-V", *more] if more in ([], ["--json"]):
            from pflow.cli.version import print_version

            print_version(as_json=bool(more))
        case ["run", *more]:
            from pflow.cli.running import main as run

            run(more)
        case ["mcp", "serve"]:
            from pflow.mcp_server import main as serve

            serve()
        case _:
            from pflow.cli.app import main as command

            command(arguments)


if __name__ == "__main__":
    main()
