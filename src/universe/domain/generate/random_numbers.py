"""A portable random number generator: xoshiro128** on four 32-bit words, with named forks."""

import math
from collections.abc import Sequence
from typing import Final, TypeVar

from uraniborg.kernel.errors import InvalidInput

Seed = str | int | float
T = TypeVar("T")

_WORD: Final = 0xFFFFFFFF
_WORDS: Final = 1 << 32
_MOST: Final = 2.0**53
_SMALLEST: Final = 1 / _MOST
"""Replaces 0 as the argument of a logarithm."""


class Prng:
    """A stream of random numbers that depends only on its seed."""

    __slots__ = ("_s0", "_s1", "_s2", "_s3")

    def __init__(self, seed: Seed) -> None:
        self._set_words(
            *_make_seed_words(_hash_text(seed) if isinstance(seed, str) else int(_check_finite(seed)) & _WORD)
        )

    def _set_words(self, s0: int, s1: int, s2: int, s3: int) -> None:
        # The all-zero state would return only zeros.
        self._s0, self._s1, self._s2, self._s3 = (s0, s1, s2, s3) if s0 | s1 | s2 | s3 else (1, 0, 0, 0)

    def next_word(self) -> int:
        """Return 32 random bits."""
        s0, s1, s2, s3 = self._s0, self._s1, self._s2, self._s3
        x = (s1 * 5) & _WORD
        result = ((((x << 7) | (x >> 25)) & _WORD) * 9) & _WORD
        s2 ^= s0
        s3 ^= s1
        self._s1 = s1 ^ s2
        self._s0 = s0 ^ s3
        self._s2 = s2 ^ ((s1 << 9) & _WORD)
        self._s3 = ((s3 << 11) | (s3 >> 21)) & _WORD
        return result

    def real(self) -> float:
        """Return a number from 0 up to, but not including, 1, with 53 random bits."""
        high = self.next_word() >> 5
        return (high * 67108864 + (self.next_word() >> 6)) / 9007199254740992

    def integer(self, low: float, high: float) -> int:
        """Return an integer between both bounds, which are floored and can be in either order.

        Raise InvalidInput for more than 2^32 values.
        """
        first, last = sorted((math.floor(_check_finite(low)), math.floor(_check_finite(high))))
        values = last - first + 1
        if values > _WORDS:
            # 32 bits cannot cover a larger range: the rejection below would not end.
            raise InvalidInput(
                "A random integer is one of at most 2^32 values.",
                hint="Choose bounds that are closer together.",
                allowed="at most 2^32 values",
            )
        fair = _WORDS // values * values
        while (drawn := self.next_word()) >= fair:
            pass
        return first + drawn % values

    def chance(self, probability: float) -> bool:
        return self.real() < probability

    def choice(self, options: Sequence[T]) -> T:
        """Return one of `options`, which must not be empty."""
        return options[self.integer(0, len(options) - 1)]

    def fork(self, label: str) -> "Prng":
        """Return a separate stream for each label. This stream does not advance."""
        ahead = self._copy()
        mark = _hash_text(label)
        ahead._set_words(*(ahead.next_word() ^ _rotate_left(mark, turn) for turn in (0, 8, 16, 24)))
        return ahead

    def _copy(self) -> "Prng":
        twin = Prng.__new__(Prng)
        twin._set_words(self._s0, self._s1, self._s2, self._s3)
        return twin

    def uniform(self, low: float, high: float) -> float:
        return low + (high - low) * self.real()

    def normal(self, mean: float, deviation: float) -> float:
        radius = math.sqrt(-2 * math.log(self.real() or _SMALLEST))
        return mean + deviation * radius * math.cos(2 * math.pi * self.real())

    def log_normal(self, mean: float, deviation: float) -> float:
        return math.exp(self.normal(mean, deviation))

    def geometric(self, p: float) -> int:
        """Return the number of failures before the first success, with the mean (1 - p) / p; 0 unless 0 < p < 1."""
        if not 0 < p < 1:
            return 0
        return math.floor(min(math.log(self.real() or _SMALLEST) / math.log1p(-p), _MOST))

    def draw_biased(self, level: float) -> float:
        """Return a number from 0 up to 1: mostly low at level 0, uniform at one half, mostly high at 1."""
        return self.real() ** (2 ** (1 - 2 * level))

    def draw_weighted_index(self, weights: Sequence[float]) -> int:
        """Return the index of one of `weights`, with a probability in proportion to it."""
        left = self.real() * sum(weights)
        for index, weight in enumerate(weights):
            left -= weight
            if left <= 0:
                return index
        return len(weights) - 1


def _hash_text(text: str) -> int:
    """Return the FNV-1a hash of the UTF-16 code units, as in JavaScript."""
    units = text.encode("utf-16-le")
    value = 2166136261
    for at in range(0, len(units), 2):
        value = ((value ^ (units[at] | units[at + 1] << 8)) * 16777619) & _WORD
    return value


def _check_finite(number: float) -> float:
    if isinstance(number, float) and not math.isfinite(number):
        raise InvalidInput("Seeds and bounds of random numbers must be finite.", hint="Give a finite number.")
    return number


def _make_seed_words(start: int) -> tuple[int, int, int, int]:
    words: list[int] = []
    for _ in range(4):
        start = (start + 0x9E3779B9) & _WORD
        z = ((start ^ start >> 16) * 0x85EBCA6B) & _WORD
        z = ((z ^ z >> 13) * 0xC2B2AE35) & _WORD
        words.append(z ^ z >> 16)
    return words[0], words[1], words[2], words[3]


def _rotate_left(word: int, turn: int) -> int:
    return ((word << turn) | (word >> (32 - turn))) & _WORD
