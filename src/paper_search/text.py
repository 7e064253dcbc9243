"""Text functions of the kernel that the search uses to compare words."""

from uraniborg.kernel.text import STOP_WORDS, fold, stem, terms, words

__all__ = ["STOP_WORDS", "fold", "stem", "terms", "words"]
