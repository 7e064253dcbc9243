"""Tests of the list of formats: each is a pure function that is loaded on first use."""

import inspect
import subprocess
import sys

import pytest
from hypothesis import given

import paper_search.export as exports
from paper_search.export import (
    FORMATS,
    export,
    export_bibtex,
    export_csl_json,
    export_json,
    export_markdown,
    export_ris,
)
from paper_search.models import PaperCollection
from tests.paper_search.export.samples import collection, collections, paper, untimed
from tests.requirements import requirement
from uraniborg.kernel.errors import InvalidInput


@requirement("PS-C4")
def test_the_three_specified_formats_come_first() -> None:
    assert list(FORMATS) == ["json", "bibtex", "markdown", "ris", "csl-json", "prisma", "prisma-json", "prisma-svg"]


@requirement("PS-C4")
def test_a_format_by_name_is_the_function_of_that_format() -> None:
    made = collection(paper("Cells", "Ada Brook", year=2020))
    functions = [
        export_json,
        export_bibtex,
        export_markdown,
        export_ris,
        export_csl_json,
        exports.export_prisma,
        exports.export_prisma_json,
        exports.export_prisma_svg,
    ]
    for name, function in zip(FORMATS, functions, strict=True):
        assert export(made, name) == FORMATS[name](made) == function(made)


@pytest.mark.parametrize("name", ["", "JSON", "endnote", "json "])
def test_an_unknown_format_is_refused_and_the_known_ones_are_named(name: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        export(collection(), name)
    assert all(known in refusal.value.hint for known in FORMATS)
    assert refusal.value.ids["allowed"] == list(FORMATS)


@requirement("PS-C8")
def test_exports_are_synchronous() -> None:
    for name in ("export_json", "export_bibtex", "export_markdown", "export_ris", "export_csl_json", "export_prisma"):
        assert not inspect.iscoroutinefunction(getattr(exports, name))


@requirement("PS-C8")
@untimed
@given(collections)
def test_exports_do_not_change_the_collection_and_are_repeatable(made: PaperCollection) -> None:
    before = made.model_dump_json()
    for write in FORMATS.values():
        assert write(made) == write(made)
    assert made.model_dump_json() == before


def test_every_public_name_can_be_imported() -> None:
    for name in exports.__all__:
        assert getattr(exports, name) is not None


def test_an_unknown_attribute_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nothing_here"):
        _ = exports.nothing_here


def test_importing_the_package_loads_none_of_the_libraries_the_formats_need() -> None:
    program = (
        "import sys, paper_search.export as e; assert e.FORMATS and e.export\n"
        "print(sorted({'bibtexparser', 'pylatexenc', 'rispy'} & set(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert ran.stdout.strip() == "[]"


def test_importing_the_markdown_and_json_exports_loads_none_of_them() -> None:
    program = (
        "import sys; from paper_search.export import export_json, export_markdown\n"
        "print(sorted({'bibtexparser', 'pylatexenc', 'rispy'} & set(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert ran.stdout.strip() == "[]"
