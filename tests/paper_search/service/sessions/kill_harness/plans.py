"""Plans of sessions, and the progress of each."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from paper_search.models import SearchConstraints
from paper_search.service.sessions.manager import DEFAULT_DOOR
from paper_search.workflow.decisions import add_missing_reviewer

MakeData = Callable[[dict[str, Any]], Any]
Step = tuple[str, MakeData, str | None]
"""A decision: action, data made from the payload of the checkpoint, note."""
Plan = tuple[str, list[Step]]
"""A query, and the decisions to take one after the other."""

CLIENT = "wire 1"
"""The name and version of the client of the harness."""


def _make_no_data(_payload: dict[str, Any]) -> None:
    return None


def _make_fields(**fields: Any) -> MakeData:
    return lambda _: fields


def _make_query(*keywords: str) -> MakeData:
    return _make_fields(queries=[{"keywords": list(keywords), "boolean_query": " AND ".join(keywords)}])


def _make_marks(how: str, which: int, **more: Any) -> MakeData:
    return lambda payload: {how: [payload["papers"][which]["id"]], **more}


SESSIONS_PER_FOLDER: Final = 20
PLANS: Final[list[Plan]] = [
    (
        "tidal heating of icy moons",
        [
            ("edit", _make_query("tidal", "heating", "moons"), None),
            ("reject", _make_marks("marked_relevant", 0, free_text_feedback="more about Enceladus"), "too broad"),
            ("approve", _make_no_data, None),
            ("approve", _make_no_data, "good"),
        ],
    ),
    (
        "perovskite solar cells since 2012",
        [
            ("edit", _make_fields(sources=["beta"]), "only there"),
            ("reject", _make_marks("marked_irrelevant", 1), None),
            ("edit", _make_query("perovskite", "stability"), None),
            ("approve", _make_no_data, None),
        ],
    ),
    (
        "graph neural networks for molecules",
        [
            ("reject", _make_fields(free_text_feedback="also crystals"), None),
            ("edit", _make_query("graph", "networks", "crystals"), None),
            ("edit", _make_marks("marked_relevant", 2), "like this one"),
            ("approve", _make_no_data, None),
            ("approve", _make_no_data, None),
        ],
    ),
    (
        "ocean acidification and coral reefs",
        [
            (
                "edit",
                _make_fields(filters=SearchConstraints(max_results=6).model_dump()),
                None,
            ),
            ("reject", _make_no_data, "what about larvae?"),
            ("approve", _make_no_data, None),
            ("reject", _make_marks("marked_irrelevant", 0), None),
            ("approve", _make_no_data, None),
            ("approve", _make_no_data, None),
        ],
    ),
]

TOPICS: Final = ("comet", "orbit", "parallax", "nova", "eclipse", "tide", "moon", "refraction", "meridian", "quadrant")
MAX_ROUNDS: Final = 4
"""Less than the limit of a search, so that every plan ends with an approval."""


def make_random_plans(seed: int, count: int = 4) -> list[Plan]:
    """Make plans of one to four rounds with random edits, marks, feedback and notes."""
    chance = random.Random(seed)
    return [_make_random_plan(chance) for _ in range(count)]


def _make_random_plan(chance: random.Random) -> Plan:
    steps: list[Step] = []
    for number in range(chance.randint(1, MAX_ROUNDS)):
        if number and chance.random() < 0.3:
            steps.append(
                ("reject", _make_fields(free_text_feedback=f"more about {chance.choice(TOPICS)}"), _make_note(chance))
            )
            continue
        steps.append(_make_strategy_step(chance))
        steps.append((chance.choice(["reject", "edit"]), _make_random_marks(chance), _make_note(chance)))
    steps += [_make_strategy_step(chance), ("approve", _make_no_data, _make_note(chance))]
    return " ".join(chance.sample(TOPICS, 3)), steps


def _make_strategy_step(chance: random.Random) -> Step:
    edits = [
        _make_query(*chance.sample(TOPICS, 3)),
        _make_fields(sources=[chance.choice(["alpha", "beta"])]),
        _make_fields(filters=SearchConstraints(year_from=chance.randint(2010, 2013), max_results=6).model_dump()),
    ]
    return (
        ("approve", _make_no_data, _make_note(chance))
        if chance.random() < 0.4
        else ("edit", chance.choice(edits), None)
    )


def _make_random_marks(chance: random.Random) -> MakeData:
    """Mark papers under review: some as relevant, others as irrelevant, most not at all."""
    relevant, irrelevant = chance.sample(range(8), 2), chance.sample(range(8), 1)
    feedback = chance.choice([None, f"less about {chance.choice(TOPICS)}"])

    def marks(payload: dict[str, Any]) -> dict[str, Any]:
        ids = [paper["id"] for paper in payload["papers"]]
        chosen = [ids[index] for index in relevant if index < len(ids)]
        unwanted = [ids[index] for index in irrelevant if index < len(ids) and ids[index] not in chosen]
        return {"marked_relevant": chosen, "marked_irrelevant": unwanted, "free_text_feedback": feedback}

    return marks


def _make_note(chance: random.Random) -> str | None:
    return chance.choice([None, f"noted {chance.randint(0, 999)}"])


@dataclass(eq=False)
class Script:
    """The progress of one plan in one session.

    `sent` holds all decisions ever sent, `step` counts those known to be applied, `acknowledged` those answered.
    """

    plan: int
    steps: Plan
    session_id: str | None = None
    step: int = 0
    acknowledged: int = 0
    is_done: bool = False
    has_given_up: bool = False
    sent: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    replies: dict[int, dict[str, Any]] = field(default_factory=dict[int, dict[str, Any]])
    in_flight: str | None = None
    ready_at: float = 0.0
    must_read_state: bool = False
    repeats: bool = False
    """True if the last decision is to be sent again although it was answered."""

    @property
    def length(self) -> int:
        return len(self.steps[1])

    def request(self) -> tuple[str, dict[str, Any]]:
        """Return the tool and the arguments of the next call."""
        if self.session_id is None:
            return "search_papers", {"query": self.steps[0], "max_results": 8}
        if self.must_read_state:
            return "get_session", {"session_id": self.session_id}
        if self.repeats and self.step:
            return "decide", self.sent[self.step - 1]
        if self.step == self.length:
            return "export_results", {"session_id": self.session_id, "format": "json"}
        if len(self.sent) == self.step:
            action, data, note = self.steps[1][self.step]
            asked = self.replies[self.step]
            decision = {"action": action, "data": data(asked["checkpoint"]["payload"]), "note": note}
            self.sent.append({"session_id": self.session_id, **decision, "checkpoint_id": asked["checkpoint_id"]})
        return "decide", self.sent[self.step]

    def list_expected_decisions(self) -> dict[str, Any]:
        """Return the steps that the journal may hold for the decisions sent."""
        return {
            f"decision-{number}": {
                "action": sent["action"],
                "revised_data": add_missing_reviewer(sent["data"], DEFAULT_DOOR),
                "note": sent["note"],
                "by_agent": True,
                "actor": {"kind": "agent", "name": CLIENT, "authenticated": "account"},
                "marks": None,
            }
            for number, sent in enumerate(self.sent)
        }


@dataclass
class Folder:
    """A data folder, its scripts, and its journals after the last server ended."""

    path: Path
    plans: Sequence[Plan]
    scripts: list[Script] = field(default_factory=list[Script])
    orphans: list[str] = field(default_factory=list[str])
    """The sessions of calls that were never answered."""
    to_read: list[str] = field(default_factory=list[str])
    journals: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    fetches: int = 0

    @property
    def active(self) -> list[Script]:
        return [script for script in self.scripts if not (script.is_done or script.has_given_up)]

    @property
    def is_used_up(self) -> bool:
        return not self.active and len(self.scripts) >= SESSIONS_PER_FOLDER

    def get_journal(self, session_id: str | None) -> dict[str, str]:
        return self.journals.get(session_id or "", {})

    def start_scripts(self) -> None:
        """Start a script for each plan without one, up to the maximum."""
        followed = {script.plan for script in self.active}
        for number, plan in enumerate(self.plans):
            if number not in followed and len(self.scripts) < SESSIONS_PER_FOLDER:
                self.scripts.append(Script(number, plan))

    def start_review(self) -> None:
        """Read the state of all sessions again, and export the finished ones again."""
        self.to_read += self.orphans
        for script in self.scripts:
            script.is_done = False
            script.must_read_state = True
