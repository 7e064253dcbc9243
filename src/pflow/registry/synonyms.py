"""Words that people use for the same thing when they look for a node or a workflow."""

from typing import Final

from uraniborg.kernel.words import split_words, stem_word

_GROUPS: Final = """
fetch download request http web url api rest endpoint website
delete remove erase unlink
copy duplicate
move rename
read open load
write save store export
folder directory
list enumerate
search find lookup query discover
run execute invoke call
shell bash sh zsh terminal command cmd cli subprocess exec
python script code program
llm ai gpt prompt model summarize summary
loop batch iterate foreach map
approval approve confirm human person review
workflow subworkflow nested pipeline
pr pull merge
issue ticket bug
repo repository
paper article publication literature
library shelf
universe simulation planet orbit star
message text echo print
create add new make
update edit change modify
tag release
mail email
notify message
"""


_by_stem: dict[str, tuple[str, ...]] = {}


def synonyms_of(term: str) -> tuple[str, ...]:
    """The stems of other words for the word with this stem; none for most."""
    if not _by_stem:
        _by_stem.update(_table())
    return _by_stem.get(term, ())


def _table() -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for line in _GROUPS.split("\n"):
        group = [stem_word(word) for word in split_words(line)]
        for term in group:
            found.setdefault(term, {}).update(dict.fromkeys(group))
    return {term: tuple(other for other in others if other != term) for term, others in found.items()}
