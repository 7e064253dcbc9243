"""The guide that agents read: how workflows are written."""

from importlib.resources import files


def guide_text() -> str:
    return files("pflow").joinpath("guide.md").read_text(encoding="utf-8")
