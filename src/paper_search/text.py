"""Text functions of the kernel that the search uses to compare words."""

from uraniborg.kernel.words import STOP_WORDS, extract_terms, fold_text, split_words, stem_word

__all__ = ["STOP_WORDS", "extract_terms", "fold_text", "split_words", "stem_word"]
