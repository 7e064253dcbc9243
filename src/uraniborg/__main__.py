"""`python -m uraniborg`."""

from uraniborg.cli import main

if __name__ == "__main__":
    main()
