"""Whether a text is Python, as the compiler sees it."""

import threading
import warnings
from typing import Final

_one_at_a_time: Final = threading.Lock()


def syntax_error_of(code: str) -> SyntaxError | None:
    """What the compiler has against the code. What it cannot take for its depth is left to who runs it."""
    # What it warns of is not for our stderr; to silence it is for one thread at a time.
    with _one_at_a_time, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(code, "<code>", "exec", dont_inherit=True)
        except SyntaxError as exc:
            return exc
        except (RecursionError, MemoryError, OverflowError, UnicodeError):
            return None
        except ValueError as exc:
            return SyntaxError(str(exc))
    return None
