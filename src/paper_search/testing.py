"""Test programs that use a search: fake and emulated sources, transports, scripted decisions, a clock."""

import asyncio
from abc import abstractmethod
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypedDict, TypeVar

import numpy as np
from pydantic import ValidationError

from paper_search.domain.query.filters import can_be_within_years
from paper_search.domain.query.query_texts import list_wanted_words
from paper_search.domain.strategies.plain_words import parse_query
from paper_search.errors import NotRecordedError
from paper_search.models import RawPaper, SearchConstraints, SearchStrategy, SourceKind, StopReason
from paper_search.sources.interfaces import Request, Response, SearchSource
from paper_search.workflow.checkpoints import Checkpoint, Decision, DecisionAction
from uraniborg.kernel.clock import FrozenClock
from uraniborg.kernel.errors import Conflict, make_invalid_input
from uraniborg.kernel.language.boolean_query import AnyOf, Node, Term
from uraniborg.kernel.language.words import split_words, stem_word

__all__ = [
    "EmulatedBooleanSource",
    "EmulatedLiterature",
    "EmulatedRankedSource",
    "FakeSource",
    "FakeTransport",
    "FrozenClock",
    "ScriptExhausted",
    "ScriptedDecisions",
    "ScriptedScreen",
]

Answer = Response | Exception
T = TypeVar("T")


class ScriptExhausted(Conflict):
    """The script has fewer decisions, keys or lines than the test needed."""

    code = "script_exhausted"


class FakeSource(SearchSource):
    """A source that returns `papers`, or raises `error`, once the `gate` is set, if there is one.

    `asked` holds the strategies of all searches.
    """

    def __init__(
        self,
        name: str,
        papers: Iterable[RawPaper] = (),
        *,
        error: Exception | None = None,
        gate: asyncio.Event | None = None,
    ) -> None:
        self._name = name
        self._papers = list(papers)
        self._error = error
        self._gate = gate
        self.asked: list[SearchStrategy] = []

    @property
    def source_name(self) -> str:
        return self._name

    async def search_advanced(self, strategy: SearchStrategy) -> list[RawPaper]:
        self.asked.append(strategy)
        if self._gate is not None:
            await self._gate.wait()
        if self._error is not None:
            raise self._error
        return [paper.model_copy(deep=True) for paper in self._papers]


class FakeTransport:
    """Answers by address: the longest key that the address of a request starts with selects the answer.

    Several answers of one key are used in turn, the last one repeatedly; an exception is raised. `requests` holds all
    requests. Raises NotRecordedError for an address without a key.
    """

    def __init__(self, answers: Mapping[str, Answer | Sequence[Answer]]) -> None:
        self._answers = {
            start: [given] if isinstance(given, Response | Exception) else list(given)
            for start, given in answers.items()
        }
        self.requests: list[Request] = []
        self.closed = False

    async def send(self, request: Request) -> Response:
        self.requests.append(request)
        fitting = [start for start, answers in self._answers.items() if request.url.startswith(start) and answers]
        if not fitting:
            raise NotRecordedError(
                f"There is no answer for {request.url}.",
                hint=f"There are answers for: {', '.join(self._answers) or 'nothing'}.",
                source=request.source,
                calls=0,
            )
        answers = self._answers[max(fitting, key=len)]
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def aclose(self) -> None:
        self.closed = True


class ScriptedScreen:
    """A terminal for reviews that returns scripted keys, lines and edited texts, each in order.

    `written` holds the displayed text. Raises ScriptExhausted at the end of the script.
    """

    def __init__(
        self, keys: str = "", lines: Iterable[str | None] = (), edits: Iterable[str] = (), width: int = 80
    ) -> None:
        self._keys = list(keys)
        self._lines = list(lines)
        self._edits = list(edits)
        self.width = width
        self.written = ""

    def write(self, text: str) -> None:
        self.written += text + "\n"

    def discard_typed_keys(self) -> None:
        """Do nothing: a script has no keys typed in advance."""

    def read_key(self) -> str:
        return _pop_first_or_raise(self._keys, "key")

    def read_line(self, prompt: str) -> str | None:
        self.write(prompt)
        return _pop_first_or_raise(self._lines, "line")

    def edit_text(self, text: str) -> str:
        self.write(text)
        return _pop_first_or_raise(self._edits, "edit")


def _pop_first_or_raise(left: list[T], kind: str) -> T:
    if not left:
        raise ScriptExhausted(f"The script has no {kind} left.", hint=f"Add a {kind}.")
    return left.pop(0)


class ScriptedDecisions:
    """A checkpoint handler with scripted decisions; a string such as "approve" stands for a decision.

    `seen` holds all checkpoints. Raises InvalidInput for an unknown action, and ScriptExhausted at the end of the
    script.
    """

    def __init__(self, decisions: Iterable[Decision | DecisionAction | str]) -> None:
        self._decisions = [given if isinstance(given, Decision) else _read_decision(given) for given in decisions]
        self.seen: list[Checkpoint] = []

    @property
    def left(self) -> int:
        """The number of unused decisions."""
        return max(0, len(self._decisions) - len(self.seen))

    async def handle(self, checkpoint: Checkpoint) -> Decision:
        self.seen.append(checkpoint)
        if len(self.seen) > len(self._decisions):
            raise ScriptExhausted(
                f"The script has {len(self._decisions)} decisions, and checkpoint {len(self.seen)} "
                f"({checkpoint.kind.value}) asks for another.",
                hint="Add a decision, or check why the search asks more often than expected.",
            )
        return self._decisions[len(self.seen) - 1]


def _read_decision(action: str) -> Decision:
    try:
        return Decision.model_validate({"action": action})
    except ValidationError as error:
        raise make_invalid_input(error, label="decision") from None


_K1: Final = 0.9
_B: Final = 0.4
_Positions = np.ndarray[tuple[int], np.dtype[np.int32]]
_Marks = np.ndarray[tuple[int], np.dtype[np.bool_]]


class EmulatedLiterature:
    """An index over papers: which of them match a Boolean query, and how well each matches words.

    Put sources before it to measure what a search strategy finds. They behave like real ones: a Boolean source returns
    matches newest first, never by relevance, and refuses a query that matches too many papers; a ranking source orders
    all papers by BM25. Both state totals and have limits.
    """

    def __init__(self, papers: Iterable[RawPaper]) -> None:
        self.papers = list(papers)
        self._words: list[str] = []
        """The words of each paper, each between spaces."""
        self._stems: list[str] = []
        """The stems of each paper, each between spaces, without stop words."""
        self._matches_by_term: dict[Term, _Positions] = {}
        positions: defaultdict[str, list[int]] = defaultdict(list)
        counts: defaultdict[str, list[int]] = defaultdict(list)
        lengths: list[int] = []
        for position, paper in enumerate(self.papers):
            words = split_words(f"{paper.title}\n{paper.abstract or ''}")
            stems = [stem for word in words if (stem := stem_word(word))]
            self._words.append(_pad(words))
            self._stems.append(_pad(stems))
            lengths.append(len(stems))
            for stem, count in Counter(stems).items():
                positions[stem].append(position)
                counts[stem].append(count)
        self._positions = {stem: np.array(found, dtype=np.int32) for stem, found in positions.items()}
        self._counts = {stem: np.array(found, dtype=np.int32) for stem, found in counts.items()}
        length = np.array(lengths, dtype=np.float64)
        self._half_weight = _K1 * (1 - _B + _B * length / max(1.0, float(length.mean()) if lengths else 1.0))
        self._newest_first = sorted(range(len(self.papers)), key=lambda position: -(self.papers[position].year or 0))

    def find_matches(self, query: str) -> list[int]:
        """Return the positions of the papers that match a Boolean query, newest first; [] if it asks for nothing."""
        tree = parse_query(query)
        if tree is None:
            return []
        marks = self._mark_matches(tree)
        return [position for position in self._newest_first if marks[position]]

    def rank_papers(self, words: str) -> list[int]:
        """Return the positions of the papers with at least one of the words, best first. Repeated words count."""
        scores = np.zeros(len(self.papers))
        for stem, times in Counter(_list_stems(words)).items():
            if (holders := self._positions.get(stem)) is not None:
                rarity = np.log(1 + (len(self.papers) - len(holders) + 0.5) / (len(holders) + 0.5))
                counts = self._counts[stem]
                scores[holders] += times * rarity * counts / (counts + self._half_weight[holders])
        order = np.argsort(-scores, kind="stable")
        return [int(position) for position in order[: int((scores > 0).sum())]]

    def _mark_matches(self, node: Node) -> _Marks:
        if isinstance(node, Term):
            marks = np.zeros(len(self.papers), dtype=np.bool_)
            if node not in self._matches_by_term:
                self._matches_by_term[node] = np.array(self._find_holders(node), dtype=np.int32)
            marks[self._matches_by_term[node]] = True
            return marks
        marks = [self._mark_matches(part) for part in node.parts]
        if isinstance(node, AnyOf):
            return np.logical_or.reduce(marks)
        return np.logical_and.reduce([*marks, *(~self._mark_matches(part) for part in node.excluded)])

    def _find_holders(self, term: Term) -> Sequence[int]:
        if term.text.endswith("*"):  # exact words, the last of which may go on: truncated words are not stemmed
            beginning = _pad(split_words(term.text.rstrip("*"))).rstrip(" ")
            return [position for position, words in enumerate(self._words) if beginning in words]
        stems = _list_stems(term.text)
        if not stems:
            return range(len(self.papers))  # a term of stop words asks for nothing
        if any(stem not in self._positions for stem in stems):
            return []
        rarest = min((self._positions[stem] for stem in stems), key=len)
        phrase = _pad(stems)
        return [position for position in rarest.tolist() if phrase in self._stems[position]]


class _Reply(TypedDict):
    """The reply of a source to one query."""

    papers: list[RawPaper]
    total: int
    stopped: str | None


class _EmulatedSource(SearchSource):
    """A source over an emulated literature. `asked` holds the text of every query that it received."""

    kind: SourceKind

    def __init__(self, literature: EmulatedLiterature, name: str, *, most: int = 200) -> None:
        self._literature = literature
        self._name = name
        self._most = most
        self.asked: list[str] = []

    @property
    def source_name(self) -> str:
        return self._name

    async def search_advanced(self, strategy: SearchStrategy) -> Any:
        """Return the papers of the single query with their total, and why there are not more of them."""
        (query,) = strategy.queries
        self.asked.append(query.boolean_query)
        return await asyncio.to_thread(self._answer, query.boolean_query, strategy.filters)

    def _answer(self, text: str, filters: SearchConstraints) -> _Reply:
        papers = self._literature.papers
        found = [
            position
            for position in self._find(text)
            if can_be_within_years(papers[position].year, filters.year_from, filters.year_to)
        ]
        if self._is_refused(found):
            return {"papers": [], "total": len(found), "stopped": StopReason.TOO_BROAD.value}
        sent = found[: min(self._most, filters.max_results)]
        stopped = StopReason.SOURCE_LIMIT.value if len(sent) == self._most < len(found) else None
        own = [papers[position].model_copy(update={"source": self._name}) for position in sent]
        return {"papers": own, "total": len(found), "stopped": stopped}

    @abstractmethod
    def _find(self, text: str) -> list[int]: ...

    def _is_refused(self, found: Sequence[int]) -> bool:
        return False


class EmulatedBooleanSource(_EmulatedSource):
    """A Boolean source: stems, phrases, AND, OR, NOT, brackets and `*`; newest first.

    It gives out `most` matches of a query, and refuses a query that matches more than `too_broad` papers.
    """

    kind = "boolean"

    def __init__(
        self, literature: EmulatedLiterature, name: str = "boolean", *, most: int = 200, too_broad: int = 800
    ) -> None:
        super().__init__(literature, name, most=most)
        self._too_broad = too_broad

    def _find(self, text: str) -> list[int]:
        return self._literature.find_matches(text)

    def _is_refused(self, found: Sequence[int]) -> bool:
        return len(found) > self._too_broad


class EmulatedRankedSource(_EmulatedSource):
    """A ranking source: the `most` best papers by BM25 for the words of a query; operators and quotes are ignored."""

    kind = "ranked"

    def __init__(self, literature: EmulatedLiterature, name: str = "ranked", *, most: int = 200) -> None:
        super().__init__(literature, name, most=most)

    def _find(self, text: str) -> list[int]:
        tree = parse_query(text)
        return self._literature.rank_papers(" ".join(list_wanted_words(tree))) if tree else []


def _list_stems(text: str) -> list[str]:
    return [stem for word in split_words(text) if (stem := stem_word(word))]


def _pad(words: Sequence[str]) -> str:
    return f" {' '.join(words)} "
