"""`python -m pflow` and `pflow`."""

from pflow.cli.main import main

__all__ = ["main"]

if __name__ == "__main__":
    main()
