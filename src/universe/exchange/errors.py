"""Errors that imports raise.

UraniborgError
└── InvalidInput
    └── ImportRefused     import_refused: nothing can be imported from the content; `format` and `skipped` say more
"""

from uraniborg.kernel.errors import InvalidInput


class ImportRefused(InvalidInput):
    code = "import_refused"
    status = 422
