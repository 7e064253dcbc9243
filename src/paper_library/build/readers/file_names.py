"""The name of a file as the title of a paper, where nothing better is known."""

import re

from paper_library.build.readers import tidy

_SEPARATORS = re.compile(r"[_\s]+|(?<=[^\W\d])[-.](?=[^\W\d])|(?<=\d)-(?=[^\W\d])|(?<=[^\W\d])-(?=\d)")


def title_from(stem: str) -> str:
    """`attention_is-all_you_need` as words; a name that has blanks keeps its hyphens."""
    text = tidy.line(stem)
    if " " not in text:
        text = " ".join(_SEPARATORS.sub(" ", text).split())
    return (text[:1].upper() + text[1:]) or "Untitled"
