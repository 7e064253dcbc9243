"""The words that a search compares: the kernel's, under the name the engine knows them by."""

from uraniborg.kernel.text import STOP_WORDS, fold, stem, terms, words

__all__ = ["STOP_WORDS", "fold", "stem", "terms", "words"]
