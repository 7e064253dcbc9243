"""Claims: checks whether the location that a source names contains the value of a body.

    check_claim(source, "mass", 2.08e-6, body=body)
    # ClaimStatus(status="supported", reason="…", …)

A source names one `Location` for each field: `{section?, page?, table?, header?, row?, passage?, stated?}`. All
functions are pure. `text_of` is a function of the caller that returns the texts of a shelf.
"""

from universe.claims.claim_check import (
    SUPPORTED,
    UNVERIFIED,
    ClaimStatus,
    PaperTextReader,
    Statement,
    check_claim,
    read_statement_or_reason,
)

__all__ = [
    "SUPPORTED",
    "UNVERIFIED",
    "ClaimStatus",
    "PaperTextReader",
    "Statement",
    "check_claim",
    "read_statement_or_reason",
]
