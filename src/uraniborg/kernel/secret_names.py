"""Secrets that are not registered, recognised by the name of a field or by the text around them."""

import re
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
