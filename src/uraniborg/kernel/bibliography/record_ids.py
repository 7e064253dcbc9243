"""Make the ids of search records: `p_` and 16 hexadecimal digits, the same on every machine.

The id follows from the most reliable identifier of a record, or else from its title, first author and year. A shelf
computes the ids that a search can give to its papers, so that both name a paper in the same way.
"""

import hashlib
import re
from collections.abc import Mapping
from typing import Final

from uraniborg.kernel.bibliography.identifiers import normalise_identifiers

_IDENTITY_ORDER: Final = ("doi", "arxiv", "pmid", "pmcid", "openalex", "s2", "dblp", "scholar")
_RECORD_ID: Final = re.compile(r"p_[0-9a-f]{16}")


def make_record_id(
    identifiers: Mapping[str, str], doi: str | None, title: str, first_author: str, year: int | None
) -> str:
    """Return the id of a record with these facts. `doi` counts unless `identifiers` has another."""
    known = {"doi": doi.strip().lower(), **identifiers} if doi else identifiers
    for scheme in _IDENTITY_ORDER:
        if value := known.get(scheme):
            return _hash_id(f"{scheme}:{value.lower()}")
    words = " ".join(title.casefold().split())
    return _hash_id(f"title:{words}|{first_author.casefold().strip()}|{year or ''}")


def list_record_ids(identifiers: Mapping[str, str], title: str, first_author: str, year: int | None) -> list[str]:
    """Return every id that a search can give to a paper, since its record may have only some of the identifiers."""
    spelled = [*identifiers.items(), *normalise_identifiers(identifiers).items()]
    by_identifier = [
        make_record_id({scheme: value}, None, "", "", None) for scheme, value in spelled if scheme in _IDENTITY_ORDER
    ]
    return list(dict.fromkeys([*by_identifier, make_record_id({}, None, title, first_author, year)]))


def is_record_id(text: str) -> bool:
    """Return True for `p_` and 16 lower-case hexadecimal digits."""
    return _RECORD_ID.fullmatch(text) is not None


def _hash_id(text: str) -> str:
    return "p_" + hashlib.sha256(text.encode()).hexdigest()[:16]
