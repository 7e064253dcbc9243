"""Translate subheadings of MeSH to the two letters of Ovid and the Cochrane Library."""

from typing import Final

_CODES: Final = """
abnormalities ab|administration & dosage ad|adverse effects ae|agonists ag|analogs & derivatives aa|analysis an
anatomy & histology ah|antagonists & inhibitors ai|biosynthesis bi|blood bl|blood supply bs|cerebrospinal fluid cf
chemical synthesis cs|chemically induced ci|chemistry ch|classification cl|complications co|congenital cn|cytology cy
deficiency df|diagnosis di|diagnostic imaging dg|diet therapy dh|drug effects de|drug therapy dt|economics ec
education ed|embryology em|enzymology en|epidemiology ep|ethics es|ethnology eh|etiology et|genetics ge
growth & development gd|history hi|immunology im|injuries in|innervation ir|instrumentation is
isolation & purification ip|legislation & jurisprudence lj|metabolism me|methods mt|microbiology mi|mortality mo
nursing nu|organization & administration og|parasitology ps|pathogenicity py|pathology pa|pharmacokinetics pk
pharmacology pd|physiology ph|physiopathology pp|poisoning po|prevention & control pc|psychology px|radiation effects re
radiotherapy rt|rehabilitation rh|secondary sc|secretion se|standards st|statistics & numerical data sn
supply & distribution sd|surgery su|therapeutic use tu|therapy th|toxicity to|transmission tm|transplantation tr
trends td|ultrastructure ul|urine ur|veterinary ve|virology vi
"""
_BY_NAME: Final = {
    name: code for entry in _CODES.replace("\n", "|").split("|") if entry for name, _, code in [entry.rpartition(" ")]
}


def find_subheading_code(name: str) -> str | None:
    """Return the two letters of a subheading, written in full or as letters, or None for an unknown one."""
    folded = " ".join(name.casefold().replace(" and ", " & ").split())
    return folded if folded in _BY_NAME.values() else _BY_NAME.get(folded)
