"""Tests without what they need: skipped on the machine of a developer, failed in CI."""

import pytest

from tests.installed_wheel import ROOT
from tests.prerequisites import skip_or_fail


def test_a_test_without_what_it_needs_is_skipped_and_fails_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="no browser"):
        skip_or_fail("There is no browser here.")
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="no browser"):
        skip_or_fail("There is no browser here.")


def test_the_script_of_ci_says_that_it_is_ci() -> None:
    script = ROOT / ".ci" / "run"
    if not script.exists():
        pytest.skip("The source archive does not have the script.")
    lines = script.read_text(encoding="utf-8").splitlines()
    exported = next(number for number, line in enumerate(lines) if line.startswith("export CI=true"))
    assert exported < lines.index("make test")
