"""Child processes: separate streams, bounded output, and a guaranteed end."""

import asyncio
import errno
import os
import signal
import sys
import threading
import time
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from blockbuster import blockbuster_ctx

from pflow.domain.node import NodeContext
from pflow.errors import NodeFailed, NodeTimedOut
from pflow.nodes import process_runner
from pflow.nodes.child_output import ChildOutput, format_size
from pflow.nodes.process_runner import FinishedProcess, ProcessLimits, run_process
from uraniborg.kernel.redaction import Redactor, enable_redactor

MIB = 1 << 20
PATIENCE_S = 30.0
HURRIED = ProcessLimits(grace_s=0.2)

needs_proc = pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="there is no /proc to look at processes")


async def run_shell_command(
    context: NodeContext, command: str, limits: ProcessLimits | None = None, **more: Any
) -> FinishedProcess:
    return await run_process(
        ["/bin/sh", "-c", command], context, limits=limits or ProcessLimits(memory_bytes=MIB), **more
    )


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


async def wait_until_gone(pid: int) -> bool:
    deadline = time.monotonic() + PATIENCE_S
    while is_running(pid):
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(0.01)
    return True


async def wait_for_text(path: Path) -> str:
    """Wait for a line in a file that a child writes, and return it."""
    deadline = time.monotonic() + PATIENCE_S
    while not (path.exists() and path.read_text().endswith("\n")):
        assert time.monotonic() < deadline, f"{path.name} was never written"
        await asyncio.sleep(0.01)
    return path.read_text().strip()


def list_descriptors() -> set[str]:
    return set(os.listdir("/proc/self/fd"))


async def test_output_and_exit_code_are_returned(context: NodeContext) -> None:
    finished = await run_shell_command(context, "echo out; echo err >&2; exit 3")
    assert (finished.exit_code, finished.signal) == (3, None)
    assert (finished.stdout.start, finished.stderr.start) == (b"out\n", b"err\n")
    assert finished.describe_ending() == "ended with exit code 3"
    assert not context.spool.exists()


@needs_proc
async def test_a_child_inherits_no_stream_or_file_of_the_parent(context: NodeContext, tmp_path: Path) -> None:
    with (tmp_path / "ours").open("w") as ours:
        os.set_inheritable(ours.fileno(), True)
        finished = await run_shell_command(
            context, "readlink /proc/$$/fd/0; for f in /proc/$$/fd/*; do readlink $f; done"
        )
    first, *held = finished.stdout.start.decode().split()
    assert first == "/dev/null"
    assert str(tmp_path / "ours") not in held
    own = {os.readlink(f"/proc/self/fd/{number}") for number in (0, 1, 2)}
    assert not {link for link in held if not link.startswith("/dev/null")} & {link for link in own if ":" in link}


@needs_proc
async def test_a_child_leads_a_session_of_its_own(context: NodeContext) -> None:
    finished = await run_shell_command(context, "cut -d' ' -f1,6 /proc/$$/stat")
    pid, session = finished.stdout.start.split()
    assert pid == session


async def test_a_child_without_input_that_reads_ends_at_once(context: NodeContext) -> None:
    finished = await run_shell_command(context, "cat; echo done")
    assert finished.stdout.start == b"done\n"


async def test_input_of_any_length_reaches_the_child_while_it_prints(context: NodeContext) -> None:
    data = os.urandom(5 * MIB)
    finished = await run_shell_command(context, "cat", stdin=data, limits=ProcessLimits(memory_bytes=6 * MIB))
    assert finished.stdout.start == data


async def test_empty_input_is_an_end_of_file(context: NodeContext) -> None:
    assert (await run_shell_command(context, "wc -c", stdin=b"")).stdout.start.split() == [b"0"]


async def test_a_child_may_leave_its_input_unread(context: NodeContext) -> None:
    finished = await run_shell_command(context, "exec 0<&-; echo fine", stdin=b"x" * 10 * MIB)
    assert (finished.exit_code, finished.stdout.start) == (0, b"fine\n")


async def test_two_full_outputs_do_not_wait_for_each_other(context: NodeContext) -> None:
    code = "import os\nfor _ in range(40):\n os.write(1, b'o' * 100_000)\n os.write(2, b'e' * 100_000)"
    finished = await run_process([sys.executable, "-c", code], context, limits=ProcessLimits(memory_bytes=MIB))
    assert (finished.stdout.size, finished.stderr.size) == (4_000_000, 4_000_000)
    assert finished.stdout.file != finished.stderr.file


async def test_much_output_is_whole_on_the_disk_and_only_its_beginning_in_memory(context: NodeContext) -> None:
    size = 200 * MIB
    tracemalloc.start()
    try:
        finished = await run_shell_command(context, f"printf begin; head -c {size} /dev/zero; printf end")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    printed = finished.stdout
    assert printed.file is not None
    assert printed.file.parent == context.spool
    assert printed.size == printed.file.stat().st_size == size + len("beginend")
    assert printed.file.stat().st_mode & 0o777 == 0o600
    assert (len(printed.start), printed.start[:6], printed.tail[-4:]) == (MIB, b"begin\0", b"\0end")
    with printed.file.open("rb") as stream:
        assert stream.read(6) == b"begin\0"
    assert peak < 24 * MIB


async def test_a_flood_ends_the_child_and_leaves_nothing_on_the_disk(context: NodeContext) -> None:
    with pytest.raises(NodeFailed, match=r"more than 8 MiB") as caught:
        await run_shell_command(
            context,
            "echo $$ >pid; yes",
            limits=ProcessLimits(memory_bytes=MIB, disk_bytes=8 * MIB, grace_s=0.2),
            timeout_s=PATIENCE_S,
        )
    printed = str(caught.value.outputs["stdout"])
    assert printed.startswith("y\ny\n")
    assert len(printed) == MIB
    assert os.listdir(context.spool) == []
    assert await wait_until_gone(int((context.folder / "pid").read_text()))


async def test_the_limit_is_for_both_outputs_together(context: NodeContext) -> None:
    command = f"head -c {3 * MIB} /dev/zero; head -c {3 * MIB} /dev/zero >&2"
    assert (
        await run_shell_command(context, command, limits=ProcessLimits(memory_bytes=MIB, disk_bytes=6 * MIB))
    ).exit_code == 0
    with pytest.raises(NodeFailed, match="more than 5 MiB"):
        await run_shell_command(context, command, limits=ProcessLimits(memory_bytes=MIB, disk_bytes=5 * MIB))


async def test_a_full_disk_ends_the_child_and_is_reported(
    context: NodeContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, calls = os.write, 0

    def full(descriptor: int, data: Any) -> int:
        nonlocal calls
        calls += 1
        if calls > 3:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(descriptor, data)

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(NodeFailed, match="stdout could not be stored: No space left") as caught:
        await run_shell_command(context, "yes", limits=HURRIED, timeout_s=PATIENCE_S)
    assert "space" in caught.value.hint
    assert os.listdir(context.spool) == []


async def test_a_spool_that_cannot_be_created_is_reported(context: NodeContext) -> None:
    context.spool.write_text("a file in its place")
    with pytest.raises(NodeFailed, match="could not be stored"):
        await run_shell_command(context, "yes", limits=HURRIED, timeout_s=PATIENCE_S)


@needs_proc
async def test_a_child_that_ignores_sigterm_is_killed_after_the_grace_period(context: NodeContext) -> None:
    started_at = time.monotonic()
    with pytest.raises(NodeTimedOut, match=r"still running after 1 s") as caught:
        await run_shell_command(context, "trap '' TERM; echo $$; while :; do :; done", timeout_s=1, limits=HURRIED)
    assert time.monotonic() - started_at >= 1.2
    assert not is_running(int(str(caught.value.outputs["stdout"])))


async def test_a_child_that_handles_sigterm_can_print_before_it_ends(context: NodeContext) -> None:
    command = "trap 'echo bye; exit 0' TERM; echo hello; while :; do :; done"
    with pytest.raises(NodeTimedOut) as caught:
        await run_shell_command(context, command, timeout_s=1, limits=ProcessLimits(grace_s=PATIENCE_S))
    assert caught.value.outputs["stdout"] == "hello\nbye\n"


@needs_proc
async def test_a_timeout_also_ends_the_processes_that_the_child_started(context: NodeContext) -> None:
    with pytest.raises(NodeTimedOut) as caught:
        await run_shell_command(context, "sleep 600 & echo $!; wait", timeout_s=1)
    assert await wait_until_gone(int(str(caught.value.outputs["stdout"])))


@needs_proc
async def test_a_process_that_holds_the_pipe_open_is_not_waited_for(context: NodeContext) -> None:
    started_at = time.monotonic()
    finished = await run_shell_command(context, "sleep 600 & echo $!; echo last >&2")
    sleeper = int(finished.stdout.start)
    try:
        assert (finished.exit_code, finished.stderr.start) == (0, b"last\n")
        assert time.monotonic() - started_at < PATIENCE_S
        assert is_running(sleeper), "what a command leaves running on purpose stays"
    finally:
        os.kill(sleeper, signal.SIGKILL)


@needs_proc
async def test_output_after_the_end_of_the_child_is_cut_off(context: NodeContext) -> None:
    command = f"{sys.executable} -c \"import os; os.setsid(); os.execvp('yes', ['yes'])\" & echo $! >pid"
    finished = await run_shell_command(context, command, timeout_s=PATIENCE_S)
    assert finished.exit_code == 0
    assert await wait_until_gone(int(await wait_for_text(context.folder / "pid")))


@pytest.mark.parametrize(("name", "code"), [("TERM", 143), ("KILL", 137), ("SEGV", 139)])
async def test_an_end_by_a_signal_is_reported(context: NodeContext, name: str, code: int) -> None:
    finished = await run_shell_command(context, f"kill -{name} $$; sleep 600")
    assert (finished.exit_code, finished.signal) == (code, f"SIG{name}")
    assert finished.describe_ending() == f"was ended by SIG{name}"


@pytest.mark.skipif(not hasattr(signal, "SIGRTMIN"), reason="there are no real-time signals here")
async def test_a_signal_without_a_name_is_reported_by_its_number(context: NodeContext) -> None:
    number = signal.SIGRTMIN + 3
    assert (await run_shell_command(context, f"kill -{number} $$; sleep 600")).signal == f"signal {number}"


@needs_proc
async def test_cancelling_ends_the_child_however_often_it_is_done(context: NodeContext) -> None:
    task = asyncio.create_task(
        run_shell_command(context, "trap '' TERM; echo $$ >pid; while :; do :; done", limits=HURRIED)
    )
    pid = int(await wait_for_text(context.folder / "pid"))
    task.cancel()
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not is_running(pid)


@needs_proc
async def test_being_cancelled_while_a_timeout_ends_the_child_is_being_cancelled(context: NodeContext) -> None:
    command = "trap 'echo asked >asked' TERM; echo $$ >pid; while :; do :; done"
    task = asyncio.create_task(run_shell_command(context, command, timeout_s=1, limits=HURRIED))
    pid = int(await wait_for_text(context.folder / "pid"))
    await wait_for_text(context.folder / "asked")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not is_running(pid)


@needs_proc
async def test_all_children_can_be_killed_at_once_from_another_thread(context: NodeContext) -> None:
    task = asyncio.create_task(run_shell_command(context, "trap '' TERM; echo $$ >pid; while :; do :; done"))
    await wait_for_text(context.folder / "pid")
    await asyncio.to_thread(process_runner.kill_all_children)
    assert (await task).signal == "SIGKILL"


async def test_output_that_is_cut_ends_with_a_whole_word_as_half_a_secret_would_not_be_masked(
    context: NodeContext,
) -> None:
    command = "printf 'key: '; head -c 90 /dev/zero | tr '\\0' x; echo; echo more"
    finished = await run_shell_command(context, command, limits=ProcessLimits(memory_bytes=64))
    assert finished.stdout.start == b"key: "
    assert finished.stdout.to_node_outputs("stdout")["stdout"] == "key: "
    assert finished.stdout.file is not None
    assert finished.stdout.file.read_bytes() == b"key: " + b"x" * 90 + b"\nmore\n"


@pytest.mark.parametrize("secret", ["known-secret-of-a-run", "known secret of a run"])
@pytest.mark.parametrize("kept", range(5000, 5021, 4))
async def test_truncated_output_contains_no_part_of_a_known_secret(
    context: NodeContext, secret: str, kept: int
) -> None:
    redactor = Redactor()
    redactor.register(secret)
    with enable_redactor(redactor):
        command = f"head -c 5000 /dev/zero | tr '\\0' x; printf '%s' '{secret}'; echo; echo more"
        finished = await run_shell_command(context, command, limits=ProcessLimits(memory_bytes=kept))
    assert set(finished.stdout.start) == {ord("x")}


async def test_the_environment_is_the_inherited_variables_and_the_added_ones(
    context: NodeContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_TIME", "inherited")
    monkeypatch.setenv("OURS", "not inherited")
    monkeypatch.setenv("XDG_API_KEY", "not inherited")
    finished = await run_shell_command(
        context, 'echo "$LC_TIME $OURS$XDG_API_KEY $ADDED"', environment={"ADDED": "a\nb"}
    )
    assert finished.stdout.start == b"inherited  a\nb\n"


async def test_a_program_runs_in_the_folder_of_the_workflow_or_the_given_one(
    context: NodeContext, tmp_path: Path
) -> None:
    (tmp_path / "sub").mkdir()
    assert (await run_shell_command(context, "pwd -P")).stdout.start.decode().strip() == str(tmp_path.resolve())
    report = await run_shell_command(context, "pwd -P", cwd=tmp_path / "sub")
    assert report.stdout.start.decode().strip() == str((tmp_path / "sub").resolve())


@pytest.mark.parametrize(
    ("argv", "more", "message"),
    [
        (["no-such-program"], {}, "no program 'no-such-program'"),
        (["/bin/sh"], {"cwd": Path("/no/such/folder")}, "no folder '/no/such/folder'"),
        (["/bin/echo", "x" * 300_000], {}, "too long"),
        (["/bin/echo", "a\0b"], {}, "null byte"),
        (["/bin/sh"], {"environment": {"A=B": "c"}}, "environment variable name"),
        (["/"], {}, "could not be started"),
    ],
)
async def test_a_program_that_cannot_be_started_is_reported(
    context: NodeContext, argv: list[str], more: dict[str, Any], message: str
) -> None:
    with pytest.raises(NodeFailed, match=message):
        await run_process(argv, context, **more)


@needs_proc
async def test_no_descriptor_is_left_open_in_any_case(context: NodeContext) -> None:
    await run_shell_command(context, "true")
    before = list_descriptors()
    await run_shell_command(context, "cat", stdin=b"x" * MIB)
    await run_shell_command(context, "exit 1", stdin=b"x" * MIB)
    await run_shell_command(context, "yes | head -c 3000000")
    with pytest.raises(NodeTimedOut):
        await run_shell_command(context, "sleep 600", timeout_s=0.05, stdin=b"x" * MIB)
    with pytest.raises(NodeFailed):
        await run_shell_command(context, "yes", limits=ProcessLimits(memory_bytes=MIB, disk_bytes=2 * MIB))
    with pytest.raises(NodeFailed):
        await run_process(["no-such-program"], context, stdin=b"x")
    task = asyncio.create_task(run_shell_command(context, "echo x >started; sleep 600", stdin=b"x" * MIB))
    await wait_for_text(context.folder / "started")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert list_descriptors() == before


@pytest.mark.parametrize("has_waitid", [True, False])
async def test_a_child_is_seen_to_end_where_the_system_has_no_descriptors_for_processes(
    context: NodeContext, monkeypatch: pytest.MonkeyPatch, has_waitid: bool
) -> None:
    monkeypatch.delattr(os, "pidfd_open", raising=False)
    if not has_waitid:
        monkeypatch.delattr(os, "waitid", raising=False)
    assert (await run_shell_command(context, "echo x; exit 4")).exit_code == 4
    with pytest.raises(NodeTimedOut):
        await run_shell_command(context, "sleep 600", timeout_s=0.05)


def test_children_run_from_a_loop_in_any_thread(context: NodeContext) -> None:
    found: list[FinishedProcess] = []
    thread = threading.Thread(
        target=lambda: found.append(asyncio.run(run_shell_command(context, "cat", stdin=b"there")))
    )
    thread.start()
    thread.join(PATIENCE_S)
    assert [finished.stdout.start for finished in found] == [b"there"]


async def test_reading_and_spooling_never_block_the_loop(context: NodeContext) -> None:
    with blockbuster_ctx("pflow") as watched:
        watched.functions["os.read"].can_block_in("subprocess.py", "_execute_child")  # until the program is loaded
        finished = await run_shell_command(context, "cat; head -c 5000000 /dev/zero", stdin=b"x" * 3_000_000)
    assert finished.stdout.size == 8_000_000


async def test_many_children_run_side_by_side(context: NodeContext) -> None:
    many = await asyncio.gather(
        *(run_shell_command(context, f"echo {number}; cat", stdin=b"end") for number in range(50))
    )
    assert [finished.stdout.start for finished in many] == [f"{number}\nend".encode() for number in range(50)]


def test_output_that_is_not_utf8_is_returned_in_base64() -> None:
    assert ChildOutput(b"\xff\x00", b"", 2).to_node_outputs("stdout") == {"stdout": "/wA=", "stdout_is_binary": True}


def test_a_text_that_was_cut_inside_a_character_is_still_text(tmp_path: Path) -> None:
    cut = ChildOutput("aé".encode()[:2], b"", 3, tmp_path / "all")
    assert cut.to_node_outputs("stdout") == {
        "stdout": "a",
        "stdout_is_binary": False,
        "stdout_file": str(tmp_path / "all"),
        "stdout_size": 3,
    }
    assert ChildOutput("aé".encode()[:2], b"", 2).decode_start() == ("YcM=", True), "but not if that was all"
    assert ChildOutput(b"\xff" + b"a" * 9, b"", 99, tmp_path / "all").decode_start()[1]


@pytest.mark.parametrize(
    ("size", "words"), [(5, "5 bytes"), (1024, "1 KiB"), (1_600_000, "1.5 MiB"), (2 << 30, "2 GiB")]
)
def test_sizes_are_formatted_for_people(size: int, words: str) -> None:
    assert format_size(size) == words
