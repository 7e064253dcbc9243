"""Every function of the bibliography declares what it returns."""

from typing import Final

import pytest

from tests.reply_declarations import PackageTypes
from uraniborg.kernel import bibliography

TYPES: Final = PackageTypes(bibliography)


@pytest.mark.parametrize("name", TYPES.modules)
def test_every_function_declares_all_of_its_result(name: str) -> None:
    assert TYPES.list_undeclared_parts(name) == []
    assert TYPES.list_untyped_replies(name) == []
    assert TYPES.list_untyped_fields(name) == []
    assert TYPES.list_untyped_spellings(name) == []
