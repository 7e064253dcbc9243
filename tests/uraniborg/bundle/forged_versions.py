"""Forgeries under the name of another version: for each kind of file, one that differs, and versions that excuse it."""

from pathlib import Path
from typing import Final

from tests.uraniborg.bundle.forging import CRATE, FORGERIES, Forge, Forgery, edit_json, edit_root, replace, tells
from uraniborg.kernel.version import version

README: Final = "README.md"


def name_program(folder: Path, program: str) -> None:
    """Name another version of the program, wherever the format holds it."""
    replace(folder, README, f"Written by Uraniborg {version()}.", f"Written by Uraniborg {program}.")
    replace(folder, CRATE, f'"version": "{version()}"', f'"version": "{program}"')


def forget_form(folder: Path) -> None:
    """Delete the version of the form, as if the bundle were older than this version."""
    edit_json(folder, CRATE, lambda crate: [one.pop("schemaVersion", None) for one in crate["@graph"]])


def name_earlier_version(folder: Path) -> None:
    name_program(folder, "0.1.0")
    edit_root(folder, schemaVersion="1")


def name_later_version(folder: Path) -> None:
    name_program(folder, "99.0")
    edit_root(folder, schemaVersion="99")


EXCUSES: Final[dict[str, Forge]] = {
    "by a later program": lambda folder: name_program(folder, "99.0"),
    "in an earlier form": name_earlier_version,
    "in a later form": name_later_version,
    "in no form": forget_form,
}


def excuse(forgery: Forgery, how: str) -> None:
    def forge(folder: Path) -> None:
        forgery.forge(folder)
        EXCUSES[how](folder)

    tells(f"{forgery.lie}, {how}", forgery.kind, *forgery.names, expected="differs")(forge)


def choose_originals() -> list[Forgery]:
    """Return, for each file, the first forgery of the other modules that contradicts the bundle."""
    by_file: dict[str, Forgery] = {}
    for forgery in FORGERIES:
        is_of_a_file = "." in Path(forgery.names[0]).name and not forgery.forge.__module__.endswith("forged_archives")
        if forgery.expected == "differs" and is_of_a_file:
            by_file.setdefault(forgery.names[0], forgery)
    return list(by_file.values())


for number, original in enumerate(choose_originals()):
    excuse(original, "by a later program")
    excuse(original, list(EXCUSES)[1 + number % 3])


@tells("a sentence in place of the version of the program", "universe", CRATE)
def _(folder: Path) -> None:
    name_program(folder, "1.0.\\n\\nReviewed by three teams")
    replace(folder, README, "\\n\\nReviewed by three teams", "\n\nReviewed by three teams")


@tells("a bundle of a form that no program made", "universe", CRATE)
def _(folder: Path) -> None:
    edit_root(folder, schemaVersion="3")


@tells("another version of the program that wrote the bundle", "universe", CRATE, expected="unproven")
def _(folder: Path) -> None:
    name_program(folder, "99.0")
