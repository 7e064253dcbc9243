"""A client that carries out several plans, one message at a time, until its server ends."""

import json
import random
from collections import Counter
from contextlib import suppress
from math import inf
from time import monotonic
from typing import Any

from tests.paper_search.service.sessions.kill_harness.judge import KillNow, KillPoint, ReplyChecker
from tests.paper_search.service.sessions.kill_harness.plans import Folder, Script
from tests.paper_search.service.sessions.kill_harness.server import TIMEOUT_S, ServerGone, ServerProcess
from tests.uraniborg.kernel.mcp.raw_messages import INITIALIZE, INITIALIZED, request


class Conversation:
    """The messages to one server for all sessions of a folder."""

    def __init__(
        self,
        checker: ReplyChecker,
        folder: Folder,
        server: ServerProcess,
        kill_point: KillPoint | None,
        chance: random.Random,
    ) -> None:
        self._checker = checker
        self._folder = folder
        self._server = server
        self._kill_point = kill_point
        self._random = chance
        self._calls = 0
        self._unanswered: dict[int, tuple[str, Script | str]] = {}
        self._seen: Counter[str] = Counter()
        self._kill_at = monotonic() + kill_point.delay if kill_point and not kill_point.count else inf
        self.is_open = False

    def run(self) -> None:
        """Run until all scripts are done. Raise KillNow at the kill point, and ServerGone if the server ends."""
        self._send(INITIALIZE)
        while not self._receive(inf):
            pass
        self.is_open = True
        self._send(INITIALIZED)
        for script in self._folder.active:
            script.must_read_state |= script.session_id is not None and self._random.random() < 0.5
        while True:
            self._send_next_calls()
            if not self._unanswered and not self._folder.active:
                break
            silent = [script.ready_at for script in self._folder.active if script.in_flight is None]
            self._handle_messages(self._receive(min(silent, default=inf)))
        if self._kill_point is not None:
            raise KillNow

    def read_remaining(self) -> None:
        """Handle the replies that the server sent before it was killed."""
        with suppress(ServerGone):
            while True:
                self._handle_messages(self._server.receive(monotonic() + TIMEOUT_S))

    def _send_next_calls(self) -> None:
        folder, now = self._folder, monotonic()
        if self._kill_point is not None:
            folder.start_scripts()
        for script in folder.active:
            if script.in_flight is None and script.ready_at <= now:
                tool, arguments = script.request()
                script.in_flight = tool
                self._call(tool, arguments, script)
        asked = [caller for _, caller in self._unanswered.values()]
        for session_id in folder.to_read:
            if session_id not in asked:
                self._call("get_session", {"session_id": session_id}, session_id)

    def _call(self, tool: str, arguments: dict[str, Any], caller: Script | str) -> None:
        self._calls += 1
        self._unanswered[self._calls] = tool, caller
        params = {"name": tool, "arguments": arguments, "_meta": {"progressToken": self._calls}}
        self._send(request("tools/call", params, id=self._calls))

    def _handle_messages(self, messages: list[dict[str, Any]]) -> None:
        for message in messages:
            if message.get("id") not in self._unanswered:  # a notification
                continue
            tool, caller = self._unanswered.pop(message["id"])
            result = message.get("result", {"isError": True})
            text = result["content"][0]["text"] if "content" in result else json.dumps(message)
            if isinstance(caller, Script):
                self._handle_reply(tool, caller, text, failed=result.get("isError", False))
            else:
                self._folder.to_read.remove(caller)
                if result.get("isError") or json.loads(text)["session_id"] != caller:
                    self._checker.check_error(tool, caller, text, self._folder.get_journal(caller))
            self._count_event("after an answer")

    def _handle_reply(self, tool: str, script: Script, text: str, *, failed: bool) -> None:
        script.in_flight = None
        script.ready_at = monotonic() + self._random.choice([0.0, 0.0, self._random.uniform(0, 0.02)])
        if failed:
            self._checker.check_error(tool, script.session_id, text, self._folder.get_journal(script.session_id))
            script.has_given_up = True
        elif tool == "export_results":
            self._checker.check_export(script, text)
        else:
            self._checker.check_reply(script, tool, json.loads(text))
            script.repeats = tool == "decide" and not script.repeats and self._random.random() < 0.1

    def _send(self, message: dict[str, Any]) -> None:
        self._server.send(message)
        self._count_event("after a request")
        self._check_kill_time()

    def _receive(self, wake_at: float) -> list[dict[str, Any]]:
        self._check_kill_time()
        too_late = monotonic() + TIMEOUT_S
        messages = self._server.receive(min(self._kill_at, wake_at, too_late))
        self._check_kill_time()
        if monotonic() > too_late:
            raise ServerGone
        return messages

    def _count_event(self, event: str) -> None:
        self._seen[event] += 1
        if self._kill_point and self._kill_point.kind == event and self._kill_point.count == self._seen[event]:
            self._kill_at = monotonic() + self._kill_point.delay

    def _check_kill_time(self) -> None:
        if monotonic() >= self._kill_at:
            raise KillNow
