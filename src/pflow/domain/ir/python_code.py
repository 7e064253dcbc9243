"""Check the syntax of Python code, and find what it assigns."""

import re
import symtable
import threading
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

NO_RESULT: Final = (
    "the code assigns no `result`, so its result is null. Assign one; if null is meant, write `result = None`."
)
"""The warning for a python node, checked or run."""
_UNCOMPILABLE: Final = (RecursionError, MemoryError, OverflowError, UnicodeError)
_DYNAMIC: Final = re.compile(
    r"\b(?:exec|eval|globals|locals|vars|setattr|__dict__|__main__|__import__|import_module|runpy)\b|\bimport\s*\*"
)
_warnings_lock: Final = threading.Lock()


def find_syntax_error(code: str) -> SyntaxError | None:
    """Return the error of the compiler, or None. Code that is too deep for the compiler is left to the run."""
    with _suppress_warnings():
        try:
            compile(code, "<code>", "exec", dont_inherit=True)
        except SyntaxError as exc:
            return exc
        except _UNCOMPILABLE:
            return None
        except ValueError as exc:
            return SyntaxError(str(exc))
    return None


def never_assigns(code: str, *names: str) -> bool:
    """Return True if the code, whatever it does, ends without a global variable of any of these names.

    False for code that does not compile or that may assign names dynamically, as `exec` does.
    """
    if _DYNAMIC.search(code):
        return False
    with _suppress_warnings():
        try:
            module = symtable.symtable(code, "<code>", "exec")
        except (SyntaxError, ValueError, *_UNCOMPILABLE):
            return False
        return not any(_assigns_name(module, name) for name in names)


def _assigns_name(module: symtable.SymbolTable, name: str) -> bool:
    """Return True if the module assigns the name, or a function or comprehension in it declares it global."""
    waiting = [module]
    while waiting:
        table = waiting.pop()
        waiting += table.get_children()
        if name not in table.get_identifiers():
            continue
        symbol = table.lookup(name)
        is_global = table is module or symbol.is_declared_global()
        if is_global and (symbol.is_assigned() or symbol.is_imported() or symbol.is_declared_global()):
            return True
    return False


@contextmanager
def _suppress_warnings() -> Generator[None]:
    """Discard the warnings of the compiler; one thread at a time, because the filters are global."""
    with _warnings_lock, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
