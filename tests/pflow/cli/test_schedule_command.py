"""`pflow schedule` with fake programs of systemd, cron and launchd."""

import os
import plistlib
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.pflow.cli.commands import BROKEN, GREETER, RunPflow, Workplace
from tests.pflow.service.fake_programs import NOTHING_FAILS, write_fake_programs

SECRET: dict[str, Any] = {
    "inputs": {"api_key": {"type": "string"}, "who": {"type": "string", "default": "me"}},
    "nodes": [{"id": "a", "type": "echo", "params": {"message": "${who} ${api_key}"}}],
}

Offer = Callable[..., Path]


@pytest.fixture
def fake_programs(workplace: Workplace, run_pflow: RunPflow, monkeypatch: pytest.MonkeyPatch) -> Offer:
    """Put these programs, and no other scheduler's, on PATH; return the folder that has them."""
    folder = workplace.folder / "bin"
    folder.mkdir()
    for program in ("sh", "cat"):
        found = shutil.which(program)
        assert found
        (folder / program).symlink_to(found)
    for name, value in NOTHING_FAILS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("CRONTAB_FAILS", raising=False)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv("PATH", str(folder))

    def put(*names: str) -> Path:
        write_fake_programs(folder, *names)
        return folder

    return put


def read_calls(workplace: Workplace) -> list[str]:
    path = workplace.folder / "calls"
    return path.read_text().splitlines() if path.exists() else []


def list_units(workplace: Workplace) -> list[str]:
    return sorted(path.name for path in (workplace.folder / ".config/systemd/user").glob("*"))


@pytest.fixture(autouse=True)
def own_name(run_pflow: RunPflow, monkeypatch: pytest.MonkeyPatch) -> None:
    """Name the person who schedules; scheduled runs do not get this variable."""
    monkeypatch.setenv("URANIBORG_USER", "Ada")


@pytest.fixture
def hello(workplace: Workplace) -> str:
    workplace.write_draft("hello", GREETER)
    return "hello"


def test_the_systemd_units_are_printed_and_nothing_is_installed(
    run_pflow: RunPflow, fake_programs: Offer, workplace: Workplace, hello: str
) -> None:
    fake_programs("systemctl")
    done = run_pflow("schedule", hello, "who=Ada", "--at", "mon 07:00")
    assert done.code == 0
    assert f"# {workplace.folder}/.config/systemd/user/pflow-hello.timer\n" in done.out
    assert "OnCalendar=Mon *-*-* 07:00:00\n" in done.out
    assert (
        f'ExecStart="{os.path.abspath(sys.executable)}" "-P" "-m" "pflow" "run" "--quiet" "hello" "who=Ada"\n'
        in done.out
    )
    assert f"WorkingDirectory={workplace.folder}\n" in done.out
    assert "--install" in done.err
    assert (read_calls(workplace), list_units(workplace)) == ([], [])


@pytest.mark.parametrize(
    ("platform", "tools", "kind"),
    [
        ("linux", ["systemctl", "crontab"], "systemd"),
        ("linux", ["crontab"], "cron"),
        ("linux", [], "cron"),
        ("darwin", ["systemctl", "crontab", "launchctl"], "launchd"),
        ("darwin", [], "launchd"),
    ],
)
def test_the_scheduler_is_that_of_the_system_unless_one_is_named(
    run_pflow: RunPflow,
    fake_programs: Offer,
    hello: str,
    monkeypatch: pytest.MonkeyPatch,
    platform: str,
    tools: list[str],
    kind: str,
) -> None:
    fake_programs(*tools)
    monkeypatch.setattr(sys, "platform", platform)
    given = ("schedule", hello, "who=Ada", "--at", "every Monday 7:00", "--json")
    reply = run_pflow(*given).json
    assert (reply["as"], reply["at"], reply["installed"], reply["name"]) == (kind, "mon 07:00", False, "hello")
    for other in ("systemd", "cron", "launchd"):
        assert run_pflow(*given, "--as", other).json["as"] == other


def test_a_systemd_timer_is_installed_listed_and_removed(
    run_pflow: RunPflow, fake_programs: Offer, workplace: Workplace, hello: str
) -> None:
    fake_programs("systemctl")
    done = run_pflow("schedule", hello, "who=Ada", "--at", "mon 07:00", "--install")
    assert done.code == 0, done.err
    assert "Scheduled hello: mon 07:00, with systemd" in done.out
    assert "journalctl --user -u pflow-hello" in done.out
    assert list_units(workplace) == ["pflow-hello.service", "pflow-hello.timer"]
    assert read_calls(workplace)[1:] == [
        "--user daemon-reload",
        "--user enable pflow-hello.timer",
        "--user restart pflow-hello.timer",
    ]
    assert run_pflow("schedule", hello, "who=Bob", "--at", "fri 08:00", "--install").code == 0, (
        "a second time replaces it"
    )
    assert run_pflow("schedule", "--list").out.split() == ["hello", "fri", "08:00", "systemd", "by", "Ada"]
    (listed,) = run_pflow("schedule", "--list", "--json").json["schedules"]
    assert (listed["name"], listed["at"], listed["as"]) == ("hello", "fri 08:00", "systemd")
    assert run_pflow("schedule", hello, "--remove").code == 0
    assert read_calls(workplace)[-2:] == ["--user disable --now pflow-hello.timer", "--user daemon-reload"]
    assert list_units(workplace) == []
    assert "Nothing is scheduled." in run_pflow("schedule", "--list").out
    assert run_pflow("schedule", hello, "--remove").code == 3


def test_the_folder_of_units_is_that_of_xdg(
    run_pflow: RunPflow, fake_programs: Offer, workplace: Workplace, hello: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_programs("systemctl")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(workplace.folder / "config"))
    assert run_pflow("schedule", hello, "who=x", "--at", "hourly", "--install").code == 0
    assert (workplace.folder / "config/systemd/user/pflow-hello.timer").exists()


@pytest.mark.parametrize("failing", ["daemon-reload", "enable", "restart"])
def test_an_installation_that_systemd_refuses_is_rolled_back(
    run_pflow: RunPflow,
    fake_programs: Offer,
    workplace: Workplace,
    hello: str,
    monkeypatch: pytest.MonkeyPatch,
    failing: str,
) -> None:
    fake_programs("systemctl")
    monkeypatch.setenv("SYSTEMCTL_FAILS", failing)
    done = run_pflow("schedule", hello, "who=x", "--at", "mon 07:00", "--install")
    assert done.code == 5
    assert "failed: no bus" in done.err
    assert "--as cron" in done.err
    assert list_units(workplace) == []
    monkeypatch.setenv("SYSTEMCTL_FAILS", "nothing at all")
    run_pflow("schedule", hello, "who=x", "--at", "mon 07:00", "--install")
    monkeypatch.setenv("SYSTEMCTL_FAILS", failing)
    assert run_pflow("schedule", hello, "who=x", "--at", "fri 07:00", "--install").code == 5
    assert run_pflow("schedule", "--list", "--json").json["schedules"][0]["at"] == "mon 07:00"


def test_units_that_pflow_did_not_write_are_neither_replaced_nor_removed(
    run_pflow: RunPflow, fake_programs: Offer, workplace: Workplace, hello: str
) -> None:
    fake_programs("systemctl")
    own = workplace.write_file(".config/systemd/user/pflow-hello.service", "[Service]\nExecStart=/bin/true\n")
    done = run_pflow("schedule", hello, "who=x", "--at", "mon 07:00", "--install")
    assert done.code == 4
    assert "was not written by pflow" in done.err
    assert run_pflow("schedule", hello, "--remove").code == 3
    assert own.read_text() == "[Service]\nExecStart=/bin/true\n"
    assert list_units(workplace) == ["pflow-hello.service"]


OTHERS = b"# mine\r\nMAILTO=me\n\n0 1 * * * true \xff \x85 # pflow-schedule of my own\n5 5 * * * last"


def test_a_cron_line_is_installed_beside_the_others_and_removed(
    run_pflow: RunPflow, fake_programs: Offer, workplace: Workplace, hello: str
) -> None:
    fake_programs("crontab")
    tab = workplace.folder / "tab"
    tab.write_bytes(OTHERS)
    assert run_pflow("schedule", hello, "who=50% Ada", "--at", "mon 07:00", "--install").code == 0
    added = tab.read_bytes().removeprefix(OTHERS + b"\n").decode()
    assert added.startswith("0 7 * * 1 umask 077; cd ")
    assert "'who=50\\% Ada'" in added
    assert added.endswith(" # pflow-schedule:hello mon 07:00\n")
    assert added.count("\n") == 1
    assert run_pflow("schedule", hello, "who=Ada", "--at", "fri 07:00", "--install").code == 0
    assert tab.read_bytes().startswith(OTHERS)
    assert tab.read_bytes().count(b"\n") == OTHERS.count(b"\n") + 2, "a second time replaces it"
    (listed,) = run_pflow("schedule", "--list", "--json").json["schedules"]
    actor = {"kind": "person", "name": "Ada", "authenticated": "account"}
    assert listed == {"name": "hello", "at": "fri 07:00", "as": "cron", "path": None, "actor": actor}
    assert run_pflow("schedule", hello, "--remove", "--json").json == {"removed": "hello", "as": ["cron"]}
    assert tab.read_bytes() == OTHERS + b"\n"


def test_a_cron_line_that_the_user_commented_out_is_theirs(
    run_pflow: RunPflow, fake_programs: Offer, workplace: Workplace, hello: str
) -> None:
    fake_programs("crontab")
    tab = workplace.folder / "tab"
    assert run_pflow("schedule", hello, "who=Ada", "--at", "mon 07:00", "--install").code == 0
    commented = b"# " + tab.read_bytes()
    tab.write_bytes(commented)
    assert run_pflow("schedule", "--list", "--json").json["schedules"] == []
    assert run_pflow("schedule", hello, "who=Ada", "--at", "fri 07:00", "--install").code == 0
    assert run_pflow("schedule", hello, "--remove").code == 0
    assert tab.read_bytes() == commented


def test_a_first_crontab_is_made(run_pflow: RunPflow, fake_programs: Offer, workplace: Workplace, hello: str) -> None:
    fake_programs("crontab")
    assert run_pflow("schedule", hello, "who=Ada", "--at", "mon 07:00", "--install").code == 0
    assert (workplace.folder / "tab").read_text().count("\n") == 1


def test_a_crontab_that_cannot_be_read_is_not_taken_for_an_empty_one(
    run_pflow: RunPflow, fake_programs: Offer, workplace: Workplace, hello: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_programs("crontab")
    (workplace.folder / "tab").write_bytes(OTHERS)
    monkeypatch.setenv("CRONTAB_FAILS", "yes")
    done = run_pflow("schedule", hello, "who=Ada", "--at", "mon 07:00", "--install")
    assert done.code == 5
    assert "you are not allowed" in done.err
    assert (workplace.folder / "tab").read_bytes() == OTHERS
    assert read_calls(workplace) == ["-l"]


def test_an_installed_cron_line_runs_the_workflow(
    run_pflow: RunPflow, fake_programs: Offer, workplace: Workplace, hello: str
) -> None:
    fake_programs("crontab")
    workplace.write_file("pflow.py", "raise SystemExit('not what lies in the folder')")
    assert run_pflow("schedule", hello, "who=50% Ada $HOME `id`", "--at", "mon 07:00", "--install").code == 0
    command = (workplace.folder / "tab").read_text().split(" ", 5)[5].replace("\\%", "%")
    bare = {"HOME": str(workplace.folder), "PATH": "/usr/bin:/bin", "URANIBORG_HOME": str(workplace.folder / "house")}
    done = subprocess.run(["/bin/sh", "-c", command], env=bare, cwd="/", check=False, timeout=40)
    log = workplace.home / "schedule-hello.log"
    assert (done.returncode, log.read_text()) == (0, "HELLO 50% ADA $HOME `ID`!\n")
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    (run,) = run_pflow("history", hello, "--json").json["runs"]
    assert (run["status"], run["starter"]) == ("success", {"door": "schedule", "name": "Ada"})
    assert run["actor"] == {"kind": "software", "name": "Ada", "authenticated": "account"}, "of who scheduled it"


def test_a_launchd_agent_is_installed_listed_and_removed(
    run_pflow: RunPflow, fake_programs: Offer, workplace: Workplace, hello: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_programs("launchctl")
    monkeypatch.setattr(sys, "platform", "darwin")
    path = workplace.folder / "Library/LaunchAgents/org.uraniborg.pflow.hello.plist"
    assert run_pflow("schedule", hello, "who=<Ada> & co", "--at", "mon,thu 07:00", "--install").code == 0
    plain = plistlib.loads(path.read_bytes())
    assert plain["ProgramArguments"][-2:] == ["hello", "who=<Ada> & co"]
    assert [one["Weekday"] for one in plain["StartCalendarInterval"]] == [1, 4]
    domain = f"gui/{os.getuid()}"
    assert read_calls(workplace) == [f"bootout {domain}/org.uraniborg.pflow.hello", f"bootstrap {domain} {path}"]
    (listed,) = run_pflow("schedule", "--list", "--json").json["schedules"]
    assert (listed["at"], listed["as"], listed["path"]) == ("mon,thu 07:00", "launchd", str(path))
    assert listed["name"] == "hello"
    monkeypatch.setenv("LAUNCHCTL_FAILS", "bootstrap")
    before = path.read_bytes()
    assert run_pflow("schedule", hello, "who=x", "--at", "fri 07:00", "--install").code == 5
    assert path.read_bytes() == before
    assert run_pflow("schedule", hello, "--remove").code == 0
    assert not path.exists()


@pytest.mark.parametrize(
    ("kind", "tool", "other"),
    [("systemd", "systemctl", "cron"), ("cron", "crontab", "systemd"), ("launchd", "launchctl", "cron")],
)
def test_where_the_program_of_a_scheduler_is_absent_another_is_named_and_nothing_is_written(
    run_pflow: RunPflow, fake_programs: Offer, workplace: Workplace, hello: str, kind: str, tool: str, other: str
) -> None:
    fake_programs()
    done = run_pflow("schedule", hello, "who=x", "--at", "mon 07:00", "--install", "--as", kind)
    assert done.code == 5
    assert f"The program {tool} is not on PATH." in done.err
    assert f"Use --as {other}," in done.err
    assert list_units(workplace) == []
    assert not (workplace.folder / "Library/LaunchAgents/org.uraniborg.pflow.hello.plist").exists()


@pytest.mark.parametrize(
    ("given", "code", "expected"),
    [
        (("hello", "--at", "mon 07:00"), 2, "who"),
        (("helo", "--at", "mon 07:00"), 3, "Did you mean 'hello'?"),
        (("shell", "--at", "mon 07:00"), 3, "is a node type"),
        (("../hello", "--at", "mon 07:00"), 2, "by its name"),
        (("./hello.json", "--at", "mon 07:00"), 2, "by its name"),
        (("-x", "--at", "mon 07:00"), 2, "No such option"),
        (("hello", "who=x", "--at", "someday"), 2, "The time of a schedule must be days and a time, got 'someday'."),
        (("hello", "who", "--at", "mon 07:00"), 2, "KEY=VALUE"),
        (("hello", "who=-", "--at", "mon 07:00"), 2, "cannot be read from stdin"),
        (("hello", "who=@none", "--at", "mon 07:00"), 2, "cannot be read"),
        (("hello", "who=x", "hello=y", "--at", "mon 07:00"), 2, "is the name of a node"),
        (("hello",), 2, "--at or --remove"),
        (("--list", "hello"), 2, "--at or --remove"),
        (("hello", "--install"), 2, "--at or --remove"),
        (("hello", "--remove", "--at", "mon 07:00"), 2, "--at or --remove"),
        (("hello", "who=x", "--remove"), 2, "--at or --remove"),
        (("../x", "--remove"), 4, "not a valid workflow name"),
        (("free", "--at", "mon 07:00"), 2, "needed"),
        (("invalid", "--at", "mon 07:00"), 2, "is not valid"),
    ],
)
def test_a_workflow_that_cannot_run_is_not_scheduled(
    run_pflow: RunPflow,
    fake_programs: Offer,
    workplace: Workplace,
    hello: str,
    given: tuple[str, ...],
    code: int,
    expected: str,
) -> None:
    fake_programs("systemctl")
    workplace.write_draft("free", {"nodes": [{"id": "a", "type": "echo", "params": {"message": "${needed}"}}]})
    workplace.write_draft("invalid", {"nodes": [{"id": "a", "type": "ecko"}]})
    install = () if {"--list", "--remove"} & set(given) else ("--install",)
    done = run_pflow("schedule", *given, *install)
    assert done.code == code, done.err
    assert expected in done.err
    assert (read_calls(workplace), list_units(workplace)) == ([], [])


@pytest.mark.parametrize(
    "given",
    ["api_key=hunter2-hunter2", "token=hunter2-hunter2", "who=https://me:hunter2-hunter2@h/", "api_key=@@hunter2"],
)
def test_a_secret_is_not_written_into_a_schedule(
    run_pflow: RunPflow, fake_programs: Offer, workplace: Workplace, given: str
) -> None:
    fake_programs("systemctl", "crontab")
    workplace.write_draft("asks", SECRET)
    for kind in ("systemd", "cron", "launchd"):
        done = run_pflow("schedule", "asks", given, "--at", "mon 07:00", "--as", kind, "--install")
        assert done.code == 2
        assert "is a secret, which is not written into a schedule" in done.err
        assert "give @FILE as the value" in done.err
        assert "hunter2" not in done.out + done.err
    assert list_units(workplace) == []


def test_a_secret_comes_from_the_environment_of_the_run_or_from_a_file(
    run_pflow: RunPflow, fake_programs: Offer, workplace: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_programs("systemctl")
    monkeypatch.setenv("api_key", "hunter2-hunter2")
    workplace.write_draft("asks", SECRET)
    reply = run_pflow("schedule", "asks", "--at", "mon 07:00", "--json")
    assert "Each run takes from its environment: api_key." in reply.json["notes"]
    workplace.write_file("key", "hunter2-hunter2")
    by_file = run_pflow("schedule", "asks", "api_key=@key", "--at", "mon 07:00", "--json")
    assert '"api_key=@key"' in "".join(by_file.json["files"].values())
    assert "hunter2" not in reply.out + by_file.out


def test_a_home_elsewhere_is_that_of_the_scheduled_run(
    run_pflow: RunPflow, fake_programs: Offer, workplace: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_programs("systemctl")
    workplace.write_draft("hello", BROKEN)
    (workplace.folder / ".pflow").rename(workplace.folder / "elsewhere")
    monkeypatch.setenv("PFLOW_HOME", "elsewhere")
    done = run_pflow("schedule", "hello", "--at", "mon 07:00")
    assert f'Environment="PFLOW_HOME={workplace.folder}/elsewhere"\n' in done.out
