"""The words that a search compares: the kernel's, under the name the engine knows them by."""

from uraniborg.kernel.words import STOP_WORDS, extract_terms, fold_text, split_words, stem_word

__all__ = ["STOP_WORDS", "extract_terms", "fold_text", "split_words", "stem_word"]
