"""Claims: does the location that a source names contain the number that a body carries?

    status_of(source, "mass", 2.08e-6, body=body)
    # ClaimStatus(status="supported", reason="…", …)

A source names one `Location` for each field: `{section?, page?, table?, header?, row?, passage?, stated?}`. Everything
here is pure; `text_of` is how the caller lends the texts of a shelf.
"""

from universe.claims.status import SUPPORTED, UNVERIFIED, ClaimStatus, Statement, TextOf, statement_in, status_of

__all__ = ["SUPPORTED", "UNVERIFIED", "ClaimStatus", "Statement", "TextOf", "statement_in", "status_of"]
