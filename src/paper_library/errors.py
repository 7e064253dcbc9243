"""How the library fails.

UraniborgError
├── InvalidInput
│   ├── (the kernel's invalid_argument, for everything out of bounds)
│   └── NothingToShelve          nothing_to_shelve: none of the inputs made a paper
├── NotFound
│   ├── PaperNotFound            paper_not_found
│   ├── PaperAmbiguous           paper_ambiguous: several papers begin so, with candidates
│   ├── TemplateNotAvailable     template_not_available, with available_summary_templates
│   ├── SourceNotAvailable       source_not_available
│   ├── TranslationNotAvailable  translation_not_available, with available_translations
│   ├── ShelfNotFound            shelf_not_found
│   └── InputNotFound            input_not_found
├── Conflict
│   ├── ShelfExists              shelf_exists: something that is no shelf stands in the way
│   ├── ShelfTooNew              shelf_too_new: made by a later version
│   ├── RegisterTooNew           register_too_new: the ids beside a shelf were written by a later version
│   ├── ShelfTooOld              shelf_too_old: made by an earlier version, to be built again
│   └── ShelfDamaged             shelf_damaged: half-written, changed or unreadable
└── Unavailable
    ├── AssetFetchFailed         asset_fetch_failed, with a reason: missing, timeout, …
    ├── ShelfUnwritable          shelf_unwritable: the disk refused what a build had to write
    ├── AssetInvalid             asset_invalid: there, but not what the shelf says it is
    └── QueryTooSlow             query_too_slow
"""

from uraniborg.kernel.errors import Conflict, InvalidInput, NotFound, Unavailable


class PaperNotFound(NotFound):
    code = "paper_not_found"

    def __init__(self, paper_id: str, template: str | None = None) -> None:
        super().__init__(
            f"Paper not found: {paper_id[:100]}",
            hint="Use the paper_id of a search result, or a DOI, arXiv id or BibTeX key of a paper on this shelf.",
            paper_id=paper_id[:100],
            **({"template": template[:100]} if template else {}),
        )


class PaperAmbiguous(NotFound):
    code = "paper_ambiguous"

    def __init__(self, prefix: str, candidates: list[str]) -> None:
        super().__init__(
            f"Several papers begin with {prefix[:100]}: {'; '.join(candidates)}.",
            hint="Write more of the id or BibTeX key.",
            paper_id=prefix[:100],
            candidates=candidates,
        )


class TemplateNotAvailable(NotFound):
    code = "template_not_available"

    def __init__(self, paper_id: str, template: str, available: list[str]) -> None:
        super().__init__(
            f"There is no summary '{template[:100]}' of this paper.",
            hint=f"Use one of: {', '.join(available)}; or leave the template out.",
            paper_id=paper_id,
            template=template[:100],
            available_summary_templates=available,
        )


class SourceNotAvailable(NotFound):
    code = "source_not_available"

    def __init__(self, paper_id: str) -> None:
        super().__init__(
            "The source text of this paper is not available on this shelf.",
            hint="Its metadata has the abstract, its summary what is known of the paper.",
            paper_id=paper_id,
        )


class TranslationNotAvailable(NotFound):
    code = "translation_not_available"

    def __init__(self, paper_id: str, lang: str, available: list[str]) -> None:
        super().__init__(
            f"A translation of this paper into '{lang[:40]}' is not available.",
            hint=f"There are: {', '.join(available)}." if available else "This paper has no translations.",
            paper_id=paper_id,
            lang=lang[:40],
            available_translations=available,
        )


class NothingToShelve(InvalidInput):
    code = "nothing_to_shelve"


class ShelfNotFound(NotFound):
    code = "shelf_not_found"


class InputNotFound(NotFound):
    code = "input_not_found"


class ShelfExists(Conflict):
    code = "shelf_exists"


class ShelfTooNew(Conflict):
    code = "shelf_too_new"


class ShelfTooOld(Conflict):
    code = "shelf_too_old"


class RegisterTooNew(Conflict):
    code = "register_too_new"


class ShelfDamaged(Conflict):
    code = "shelf_damaged"
    status = 503


class AssetFetchFailed(Unavailable):
    code = "asset_fetch_failed"


class AssetInvalid(Unavailable):
    code = "asset_invalid"


class ShelfUnwritable(Unavailable):
    code = "shelf_unwritable"


class QueryTooSlow(Unavailable):
    code = "query_too_slow"


class OutOfBounds(InvalidInput):
    """An argument beyond its limit: names it and what is allowed."""

    def __init__(self, argument: str, allowed: str, *, hint: str = "") -> None:
        super().__init__(
            f"{argument} must be {allowed}.",
            hint=hint or f"Call again with {argument} {allowed}.",
            argument=argument,
            allowed=allowed,
        )
