"""Valid names, and security errors that repeat nothing of a path."""

import re
import string
from pathlib import Path, PureWindowsPath

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from pflow.errors import SecurityError
from pflow.store.workflow_file import RULE, locate_workflow_file, validate_name
from tests.requirements import requirement

LETTERS = string.ascii_letters + string.digits
DEVICES = {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))}
REFUSAL = re.compile(rf"(?:This|'[A-Za-z0-9._-]{{1,20}}…?') is not a valid workflow name: [^'\n]+\. {re.escape(RULE)}")


def expect_refusal(name: str) -> SecurityError:
    with pytest.raises(SecurityError) as caught:
        validate_name(name)
    assert caught.value.type == "SecurityError"
    assert REFUSAL.fullmatch(caught.value.message)
    assert caught.value.ids == {}
    return caught.value


@pytest.mark.parametrize(
    "name", ["a", "7", "pr-analyzer", "v1.2_x", "A" * 50, "a.b.c", "null", "console", "json", "x-"]
)
def test_a_plain_name_is_itself(name: str) -> None:
    assert validate_name(name) == name


@requirement("PF-R16", "PF-E1")
@pytest.mark.parametrize("name", ["../etc", "..", "../../secret/keys", "a/../b", "..\\windows", "a..b", "./x"])
def test_a_name_that_climbs_is_refused_and_nothing_of_it_is_repeated(name: str) -> None:
    error = expect_refusal(name)
    assert error.message.startswith("This is not a valid workflow name")
    assert not any(part in error.message for part in re.split(r"[/\\.]+", name) if len(part) > 2)


@requirement("PF-R16", "PF-E2")
@pytest.mark.parametrize(
    "name", ["/etc/passwd", "C:\\Windows\\win.ini", "C:", "c:greeter", "\\\\server\\share", "~", "~root/x", "~/.ssh/id"]
)
def test_an_absolute_path_is_refused_and_nothing_of_it_is_repeated(name: str) -> None:
    assert expect_refusal(name).message.startswith("This is not a valid workflow name")


@requirement("PF-R16")
@pytest.mark.parametrize(
    "sign", "/\\\u2215\u2044\uff0f\u29f8\u29f9\uff3c\u2216\u2571\u3033\u0338\u2024\u2025\uff0e\uff5e"
)
def test_lookalikes_of_separators_and_dots_are_refused(sign: str) -> None:
    assert sign not in expect_refusal(f"..{sign}etc").message
    assert sign not in expect_refusal(f"reports{sign}daily").message


@pytest.mark.parametrize(
    "name", ["", " ", "a b", "a\0", "a\n", "\na", "a\x1b[31m", "a\u202e", "a\ufeff", "ä", "٣", "a\ud800"]
)
def test_controls_spaces_and_other_alphabets_are_refused(name: str) -> None:
    assert expect_refusal(name).message.isprintable()


@pytest.mark.parametrize("name", ["-rf", "_x", ".", ".hidden", "a.", "A" * 51, "a" * 1_000_000])
def test_names_with_a_wrong_start_end_or_middle_are_refused_with_short_messages(name: str) -> None:
    assert len(expect_refusal(name).message) < 400


@pytest.mark.parametrize(
    "name", ["greeter.json", "greeter.JSON", "a.tmp", "a.lock", "con", "NUL.x", "com1", "Lpt9.a.b"]
)
def test_endings_of_files_and_names_of_devices_are_refused(name: str) -> None:
    expect_refusal(name)


def test_the_refusal_shows_how_a_harmless_name_begins() -> None:
    assert expect_refusal("my workflow").message.startswith(
        "'my…' is not a valid workflow name: character 3 is not allowed."
    )
    assert expect_refusal("x" * 60).message.startswith(
        f"'{'x' * 20}…' is not a valid workflow name: it has 60 characters."
    )
    assert expect_refusal("greeter.json").message.startswith("'greeter.json' is not a valid workflow name")


@given(st.text(max_size=60) | st.text(alphabet=LETTERS + "-_./\\~", max_size=52))
@example("a/b")
@example("a\n")
@example("a" * 51)
def test_any_text_is_refused_unless_it_follows_the_rule(name: str) -> None:
    if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,49}", name):
        assume(name.lower() not in DEVICES)
        assert validate_name(name) == name
    elif not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,49}", name) or ".." in name or name.endswith("."):
        expect_refusal(name)


@given(st.text(alphabet=LETTERS + "-_.", min_size=1, max_size=50))
def test_a_valid_name_is_one_part_of_a_path_on_every_system(name: str) -> None:
    try:
        accepted = validate_name(name)
    except SecurityError:
        return
    for path in (Path(f"{accepted}.json"), PureWindowsPath(f"{accepted}.json")):
        assert path.parts == (f"{accepted}.json",)
        assert not path.anchor
    assert accepted.split(".")[0].lower() not in DEVICES


def test_the_path_is_the_name_in_its_folder_and_need_not_exist(tmp_path: Path) -> None:
    assert locate_workflow_file(tmp_path / "none" / "yet", "greeter") == tmp_path / "none" / "yet" / "greeter.json"


@requirement("PF-R16")
@pytest.mark.parametrize("target", ["../outside.json", "/etc/hostname", "../missing.json", "loop.json"])
def test_a_link_out_of_the_folder_is_refused_without_naming_its_target(tmp_path: Path, target: str) -> None:
    folder = tmp_path / "workflows"
    folder.mkdir()
    (tmp_path / "outside.json").write_text("{}")
    (folder / "loop.json").symlink_to("loop.json")
    (folder / "link.json").symlink_to(target)
    with pytest.raises(SecurityError) as caught:
        locate_workflow_file(folder, "link")
    reply = str(caught.value.body())
    assert str(tmp_path) not in reply
    assert target not in reply


def test_links_inside_the_folder_and_a_linked_folder_are_accepted(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "one.json").write_text("{}")
    (tmp_path / "real" / "other.json").symlink_to("one.json")
    (tmp_path / "workflows").symlink_to("real")
    assert locate_workflow_file(tmp_path / "workflows", "other").read_text() == "{}"


@pytest.mark.parametrize(
    ("name", "suggested"),
    [("Say Hi", "say-hi"), ("report-weekly.json", "report-weekly"), ("workflows/report weekly.json", "report-weekly")],
)
def test_the_hint_has_the_name_that_was_probably_meant(name: str, suggested: str) -> None:
    assert expect_refusal(name).hint.startswith(f"Write '{suggested}'. ")


@pytest.mark.parametrize("name", ["../report", "/etc/passwd", "~/x", "reports/../x.json", "C:\\x"])
def test_a_path_that_leads_out_of_the_folder_gets_no_suggestion(name: str) -> None:
    assert expect_refusal(name).hint.startswith("Give only the name")
