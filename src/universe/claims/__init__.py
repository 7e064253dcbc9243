"""Claims: does the location that a source names contain the number that a body carries?

    check_claim(source, "mass", 2.08e-6, body=body)
    # ClaimStatus(status="supported", reason="…", …)

A source names one `Location` for each field: `{section?, page?, table?, header?, row?, passage?, stated?}`. Everything
here is pure; `text_of` is how the caller lends the texts of a shelf.
"""

from universe.claims.status import SUPPORTED, UNVERIFIED, ClaimStatus, Statement, TextOf, check_claim, read_statement

__all__ = ["SUPPORTED", "UNVERIFIED", "ClaimStatus", "Statement", "TextOf", "check_claim", "read_statement"]
