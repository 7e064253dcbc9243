"""Compare words as the kernel does, for all modules of the search."""

from uraniborg.kernel.words import STOP_WORDS, extract_terms, fold_text, split_words, stem_word

__all__ = ["STOP_WORDS", "extract_terms", "fold_text", "split_words", "stem_word"]
