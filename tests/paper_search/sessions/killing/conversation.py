"""A client that carries several plans through, one message at a time, until its server is gone."""

import json
import random
from collections import Counter
from contextlib import suppress
from math import inf
from time import monotonic
from typing import Any

from tests.paper_search.sessions.killing.judge import Aim, Judge, KillNow
from tests.paper_search.sessions.killing.plans import Folder, Script
from tests.paper_search.sessions.killing.server import SOON, Life, ServerGone
from tests.uraniborg.kernel.mcp.raw_messages import INITIALIZE, INITIALIZED, request


class Conversation:
    """What the client says in one life, to all sessions of a folder at once."""

    def __init__(self, judge: Judge, folder: Folder, life: Life, aim: Aim | None, chance: random.Random) -> None:
        self._judge = judge
        self._folder = folder
        self._life = life
        self._aim = aim
        self._random = chance
        self._calls = 0
        self._unanswered: dict[int, tuple[str, Script | str]] = {}
        self._seen: Counter[str] = Counter()
        self._kill_at = monotonic() + aim.delay if aim and not aim.count else inf
        self.is_open = False

    def run(self) -> None:
        """Until there is nothing left to say. Raises KillNow when the moment has come, and ServerGone."""
        self._send(INITIALIZE)
        while not self._receive(inf):
            pass
        self.is_open = True
        self._send(INITIALIZED)
        for script in self._folder.active:
            script.must_look |= script.session_id is not None and self._random.random() < 0.5
        while True:
            self._speak()
            if not self._unanswered and not self._folder.active:
                break
            silent = [script.ready_at for script in self._folder.active if script.in_flight is None]
            self._take(self._receive(min(silent, default=inf)))
        if self._aim is not None:
            raise KillNow

    def read_the_rest(self) -> None:
        """What the server had answered before it was killed."""
        with suppress(ServerGone):
            while True:
                self._take(self._life.receive(monotonic() + SOON))

    def _speak(self) -> None:
        folder, now = self._folder, monotonic()
        if self._aim is not None:
            folder.begin_scripts()
        for script in folder.active:
            if script.in_flight is None and script.ready_at <= now:
                tool, arguments = script.request()
                script.in_flight = tool
                self._call(tool, arguments, script)
        asked = [who for _, who in self._unanswered.values()]
        for session_id in folder.to_look_at:
            if session_id not in asked:
                self._call("get_session", {"session_id": session_id}, session_id)

    def _call(self, tool: str, arguments: dict[str, Any], who: Script | str) -> None:
        self._calls += 1
        self._unanswered[self._calls] = tool, who
        params = {"name": tool, "arguments": arguments, "_meta": {"progressToken": self._calls}}
        self._send(request("tools/call", params, id=self._calls))

    def _take(self, messages: list[dict[str, Any]]) -> None:
        for message in messages:
            if message.get("id") not in self._unanswered:  # a notification
                continue
            tool, who = self._unanswered.pop(message["id"])
            result = message.get("result", {"isError": True})
            text = result["content"][0]["text"] if "content" in result else json.dumps(message)
            if isinstance(who, Script):
                self._hear(tool, who, text, failed=result.get("isError", False))
            else:
                self._folder.to_look_at.remove(who)
                if result.get("isError") or json.loads(text)["session_id"] != who:
                    self._judge.hear_error(tool, who, text, self._folder.journal(who))
            self._count("after an answer")

    def _hear(self, tool: str, script: Script, text: str, *, failed: bool) -> None:
        script.in_flight = None
        script.ready_at = monotonic() + self._random.choice([0.0, 0.0, self._random.uniform(0, 0.02)])
        if failed:
            self._judge.hear_error(tool, script.session_id, text, self._folder.journal(script.session_id))
            script.has_given_up = True
        elif tool == "export_results":
            self._judge.hear_export(script, text)
        else:
            self._judge.hear(script, tool, json.loads(text))
            script.repeats = tool == "decide" and not script.repeats and self._random.random() < 0.1

    def _send(self, message: dict[str, Any]) -> None:
        self._life.send(message)
        self._count("after a request")
        self._check_the_time()

    def _receive(self, wake_at: float) -> list[dict[str, Any]]:
        self._check_the_time()
        too_late = monotonic() + SOON
        messages = self._life.receive(min(self._kill_at, wake_at, too_late))
        self._check_the_time()
        if monotonic() > too_late:
            raise ServerGone
        return messages

    def _count(self, event: str) -> None:
        self._seen[event] += 1
        if self._aim and self._aim.kind == event and self._aim.count == self._seen[event]:
            self._kill_at = monotonic() + self._aim.delay

    def _check_the_time(self) -> None:
        if monotonic() >= self._kill_at:
            raise KillNow
