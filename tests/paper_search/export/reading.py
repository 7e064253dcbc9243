"""A BibTeX reader based on bibtexparser, like that of a user of the exported file."""

import functools
import logging
from dataclasses import dataclass

from bibtexparser.entrypoint import parse_string
from bibtexparser.middlewares import LatexDecodingMiddleware
from bibtexparser.middlewares.names import parse_single_name_into_parts, split_multiple_persons_names

# The decoder logs every field that it does not change.
logging.getLogger("bibtexparser").setLevel(logging.WARNING)
_DECODING = LatexDecodingMiddleware()


@dataclass(frozen=True)
class ReadEntry:
    kind: str
    key: str
    authors: list[str]
    """The editors of a work without authors."""
    families: list[str]
    raw: dict[str, str]
    decoded: dict[str, str]


def decode(latex: str) -> str:
    return read_bibtex(f"@misc{{key, author = {{A}}, title = {{{latex}}}}}")[0].decoded["title"]


def read_bibtex(text: str) -> list[ReadEntry]:
    raw = parse_string(text)
    decoded = parse_string(text, append_middleware=[_DECODING])
    assert not raw.failed_blocks
    assert not decoded.failed_blocks
    read: list[ReadEntry] = []
    for before, after in zip(raw.entries, decoded.entries, strict=True):
        fields = {field.key: str(field.value) for field in before.fields}
        names = split_multiple_persons_names(fields.get("author") or fields["editor"])
        families = [" ".join(parse_single_name_into_parts(name).last) for name in names]
        read.append(
            ReadEntry(
                kind=before.entry_type,
                key=before.key,
                authors=list(_decode_each(*names)),
                families=list(_decode_each(*families)),
                raw=fields,
                decoded={field.key: str(field.value) for field in after.fields},
            )
        )
    return read


@functools.cache
def _decode_each(*texts: str) -> tuple[str, ...]:
    lines = ",\n".join(f"n{number} = {{{text}}}" for number, text in enumerate(texts))
    library = parse_string(f"@misc{{key, {lines}}}", append_middleware=[_DECODING])
    return tuple(str(field.value) for field in library.entries[0].fields)
