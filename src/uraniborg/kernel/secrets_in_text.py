"""Find secrets: by the name of a field, by patterns in text, and registered secrets in every spelling."""

import re
import threading
from functools import lru_cache
from typing import Final

MASK: Final = "***"

_LONGEST_NAME: Final = 128
_WORDS: Final = r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[\W_]+"
_NUMBERS: Final = r"_?\d+(?=_|$)"
_SENSITIVE: Final = (
    r"(?:secret|pass_?w(?:or)?d|pwd|pass_?phrase|pass_?code|credentials?|authorization)(?:_|$)"
    r"|(?:secret|password|passwd|pwd|passphrase|passcode)s$"
    r"|(?:api|access|auth|private|secret|ssh|signing|client|encryption|master|deploy|subscription)_?key(?:_|s?$)"
    r"|(?:api|access|auth|refresh|bearer|session|client|private|secret|ssh|signing)_?token(?:_|s?$)"
    r"|token(?:_value|_string)?$"
    r"|(?:db|user|admin|root|smtp|imap|ftp|proxy)_?pass$"
    r"|auth(?:_(?:header|value|string|data|code))?$"
    r"|cookie(?:s|_(?:header|value|string|data|jar))?$"
    r"|^(?:auth_|http_)?bearer$"
    r"|(?:^|_)jwt$"
)
_ABOUT: Final = (
    r"_(?:types?|names?|files?|paths?|urls?|uris?|endpoint|server|provider|scheme|policy|method|mode|format|version"
    r"|count|length|size|limit|field|env|var|variable|description|hint|status|expir(?:y|es|ation)|ttl|at|in|on"
    r"|(?<!auth_)(?<!authorization_)(?<!cookie_)header)$"
)
"""Endings of names that describe a secret and are not secrets: `api_key_header`, `token_type`."""
_CURSOR: Final = (
    r"(?:^|_)(?:(?:next)?page|next|prev(?:ious)?|paging|pagination|cursor|skip|continu(?:e|ation)|resum(?:e|ption)"
    r"|(?:next)?sync|delta|cancel(?:lation)?|start|stop|end|first|last|per|each|special|bos|eos|pad|unk|sep|cls)_?token$"
)
"""Tokens that mark a position in a listing, or are part of a language."""


@lru_cache(maxsize=1024)
def is_sensitive(name: str) -> bool:
    """Return True if values with this name are secrets. `author`, `max_tokens` and `next_page_token` are not."""
    name = name[-_LONGEST_NAME:]
    # The patterns are compiled at first use: a command that masks nothing does not wait for them.
    words = re.sub(_NUMBERS, "", re.sub(_WORDS, "_", name).lower()).rstrip("_")
    return bool(re.search(_SENSITIVE, words)) and not re.search(_ABOUT, words) and not re.search(_CURSOR, words)


_SIGNS: Final = (
    r"""=(?<=[\w-]=)["']?"""  # api_key=… in a URL, a form or a repr
    r"""|"(?<=[\w-]"):\s*["']|'(?<=[\w-]'):\s*["']"""  # "api_key": "…" in JSON or in a repr
    r"""|\?(?:key|sig|signature|auth)=|&(?:key|sig|signature|auth)="""  # names that mean a secret only inside a URL
    r"""|://|:(?<=[ney]:)(?:(?<=\bauthorization:)|(?<=\bcookie:)|(?<=\bapi-key:)) *"""
    r"""| (?<=\bbearer ) *"""
)
"""The text before a secret. Each alternative starts with a character that is rare in most text."""
_NAMED: Final = "=\"'"
_SECRETS: Final = {
    "=": r"""(?!\$\{\w+\})[^\s&"'#;,)<>\]}]+""",  # a template names a secret and is not one
    '"': r"""[^"']+""",
    "'": r"""[^"']+""",
    "?": r"""[^\s&"'#]+""",
    "&": r"""[^\s&"'#]+""",
    "://": r"""(?:[^/\s@:]*:[^/\s@]+|[^/\s@:]{20,})(?=@)""",  # a user name of this length is a token
    ":": r"""[^\r\n"']+""",
    " ": r"""(?=\S*\d)[\w.~+/=-]{6,}""",  # prose rarely contains a digit
}
"""The pattern of the secret, by the text before it or by its first character."""


def mask_patterns(text: str) -> str:
    """Return the text with secrets in known patterns masked: `api_key=…`, `Authorization: …`, `://user:…@`."""
    if "=" not in text and ":" not in text and "bearer " not in text.lower():
        return text
    signs, at, parts, done = re.compile(_SIGNS, re.IGNORECASE), 0, list[str](), 0
    while found := signs.search(text, at):
        sign, at = found[0], found.start() + 1
        if sign[0] in _NAMED and not is_sensitive(_find_name_before(text, found.start())):
            continue
        pattern = _SECRETS.get(sign) or _SECRETS[sign[0]]
        if secret := re.compile(pattern).match(text, found.end()):
            parts += [text[done : secret.start()], MASK]
            done = at = secret.end()
    return "".join([*parts, text[done:]]) if parts else text


def _find_name_before(text: str, end: int) -> str:
    backwards = text[max(0, end - _LONGEST_NAME) : end][::-1]
    name = re.match(r"[\w-]*", backwards)
    return name[0][::-1] if name else ""


SHORTEST_SECRET: Final = 6
"""Shorter values are too common in other text."""

_SCHEMES: Final = ("bearer ", "basic ", "token ")
_ALIKE: Final = re.compile(r"[A-Za-z0-9_.~-]+")
"""Characters that no encoding escapes."""
_PIECES: Final = re.compile(r"(\\*)(.?)", re.DOTALL)
_SHORT_ESCAPES: Final = {"\n": "n", "\r": "r", "\t": "t", "\b": "b", "\f": "f", '"': '"', "'": "'", "/": "/"}
_MOST: Final = 7
"""The number of backslashes of an escape that was escaped twice again: JSON in JSON in a repr."""
_ESCAPE: Final = rf"\\{{1,{_MOST}}}+"
_LONGEST_SPELLING: Final = 4 * len(_MOST * "\\" + "xff")
"""The longest spelling of one character, which has at most four bytes."""
_END: Final = 512
"""The length of each end of a long secret. Only the ends are compared, because patterns are slow to compile."""

_MANY: Final = 1000
_TAIL: Final = 6

Span = tuple[int, int]


class KnownSecrets:
    """Secrets by their values. The cost of adding one does not depend on their number. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[str, _Secret] = {}
        self._all: list[_Secret] = []
        self._by_tail: dict[str, list[_Secret]] = {}
        self._without_tail: list[_Secret] = []
        self.longest = 0
        """The length of the longest spelling of any secret."""

    def add(self, secret: str) -> None:
        """Add a secret, and the part after the name of a scheme, such as `Bearer`. Ignore values that are too short."""
        secret = secret.strip()
        with self._lock:
            self._add_secret(secret)
            if secret.lower().startswith(_SCHEMES):
                self._add_secret(secret.partition(" ")[2].strip())

    def _add_secret(self, secret: str) -> None:
        if len(secret) < SHORTEST_SECRET or secret in self._known:
            return
        known = self._known[secret] = _Secret(secret)
        self.longest = max(self.longest, known.longest)
        self._all.append(known)
        tail = known.alike[-_TAIL:]
        (self._by_tail.setdefault(tail, []) if len(tail) == _TAIL else self._without_tail).append(known)

    @property
    def values(self) -> frozenset[str]:
        with self._lock:
            return frozenset(self._known)

    def find_spans(self, text: str) -> list[Span]:
        """Return the spans of the secrets in a text, in any order; they may overlap."""
        count = len(self._all)
        if not count or len(text) < SHORTEST_SECRET:
            return []
        suspects = self._find_candidates(text) if count > _MANY or count > 4 * len(text) else self._all
        return [span for known in suspects if known.alike in text for span in known.find_spans(text)]

    def _find_candidates(self, text: str) -> list["_Secret"]:
        """Return the secrets that may be in a text, without a search for each if there are many."""
        starts = range(len(text) - _TAIL + 1)
        met = {tail: same for at in starts if (same := self._by_tail.get(tail := text[at : at + _TAIL]))}
        return [*self._without_tail, *(known for same in met.values() for known in same)]


class _Secret:
    """A secret. All its spellings share its longest run of plain characters.

    Only if that run is found is the pattern compiled, which is slow.
    """

    __slots__ = ("_pattern", "_text", "alike", "longest")

    def __init__(self, text: str) -> None:
        self._text = text
        self._pattern: re.Pattern[str] | None = None
        self.alike = max(_ALIKE.findall(text), key=len, default="")
        self.longest = _compute_longest_spelling(text)

    def find_spans(self, text: str) -> list[Span]:
        if self._pattern is None:
            self._pattern = re.compile(_make_pattern(self._text))
        return [found.span() for found in self._pattern.finditer(text)]


def _compute_longest_spelling(text: str) -> int:
    plain = sum(map(len, _ALIKE.findall(text)))
    return plain + _LONGEST_SPELLING * (len(text) - plain)


def _make_pattern(text: str) -> str:
    if len(text) <= 2 * _END:
        return "".join(_make_character_pattern(*piece) for piece in _PIECES.findall(text))
    between = text[_END:-_END]
    gap = f"(?s:.{{{len(between)},{_compute_longest_spelling(between)}}}?)"
    return _make_pattern(text[:_END]) + gap + _make_pattern(text[-_END:])


def _make_character_pattern(backslashes: str, char: str) -> str:
    """Return a pattern for one character and the backslashes before it, including those that escape it."""
    count = len(backslashes)
    run = rf"(?:\\{{{count},{count * (_MOST + 1) + _MOST}}}+|(?i:%5c){{{count}}})" if count else ""
    if not char or _ALIKE.match(char):
        return run + re.escape(char)
    bare, escaped = "|".join(_list_plain_spellings(char)), "|".join(_list_escaped_spellings(char))
    return f"{run}(?:{bare}|{escaped})" if run else f"(?:{bare}|{_ESCAPE}(?:{escaped}))"


def _list_plain_spellings(char: str) -> list[str]:
    encoded = char.encode("utf-8", "surrogatepass")
    forms = [char, *({encoded.decode("utf-8", "surrogateescape")} - {char}), *("+" if char == " " else "")]
    return [f"(?i:{''.join(f'%{byte:02x}' for byte in encoded)})", *map(re.escape, forms)]


def _list_escaped_spellings(char: str) -> list[str]:
    """Return the spellings of a character after a backslash."""
    code, halves = ord(char), char.encode("utf-16-be", "surrogatepass")
    forms = [_ESCAPE.join(f"u{half.hex()}" for half in (halves[:2], halves[2:]) if half)]
    forms += [f"x{code:02x}"] if code < 256 else [f"U{code:08x}"] if code > 0xFFFF else []
    forms += [_ESCAPE.join(f"x{byte:02x}" for byte in char.encode("utf-8", "surrogatepass"))] if code > 127 else []
    return [f"(?i:{'|'.join(forms)})", *map(re.escape, _SHORT_ESCAPES.get(char, ""))]
