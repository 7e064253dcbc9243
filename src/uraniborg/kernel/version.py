"""Find the version of the installed package in milliseconds: importing `importlib.metadata` takes a hundred."""

import os
import sys

_DISTRIBUTION = "uraniborg"


def version() -> str:
    before, after = f"{_DISTRIBUTION}-", ".dist-info"
    for folder in sys.path:
        try:
            names = os.listdir(folder or ".")
        except OSError:
            continue
        for name in names:
            if name.startswith(before) and name.endswith(after):
                return name[len(before) : -len(after)]
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as read_version  # for other kinds of installation

    try:
        return read_version(_DISTRIBUTION)
    except PackageNotFoundError:
        return "unknown"
