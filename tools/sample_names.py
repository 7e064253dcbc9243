"""Print functions or modules chosen at random, by name alone, to find out whether names explain themselves.

`python tools/sample_names.py --seed 1` prints 60 functions with their signatures, `--modules` 20 module paths.
Give the list to a reader who does not know the project, then compare the answers with the code: `--bodies` prints it.
"""

import argparse
import ast
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Final

SOURCE: Final = Path(__file__).parent.parent / "src"
Function = ast.FunctionDef | ast.AsyncFunctionDef


def main() -> None:
    arguments = parse_arguments()
    paths = sorted(path for path in SOURCE.rglob("*.py") if not path.stem.startswith("__"))
    chance = random.Random(arguments.seed)
    if arguments.modules:
        for number, path in enumerate(sorted(chance.sample(paths, arguments.modules)), 1):
            print(f"{number:2} {path.relative_to(SOURCE)}")
        return
    functions = [(name, node) for path in paths for name, node in find_functions(path)]
    chosen = sorted(chance.sample(functions, arguments.functions), key=lambda pair: pair[0])
    for number, (name, node) in enumerate(chosen, 1):
        print(f"{number:2} {name}{format_signature(node)}")
        if arguments.bodies:
            print(ast.unparse(node), end="\n\n")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1, help="choose others with another seed (default: 1)")
    parser.add_argument("--functions", type=int, default=60, help="how many functions (default: 60)")
    parser.add_argument("--modules", type=int, nargs="?", const=20, default=0, help="print so many modules instead")
    parser.add_argument("--bodies", action="store_true", help="print the code of the functions, too")
    return parser.parse_args()


def find_functions(path: Path) -> Iterator[tuple[str, Function]]:
    """Yield each function and method of a module with its qualified name, except special methods."""
    module = ".".join(path.relative_to(SOURCE).with_suffix("").parts)

    def walk(node: ast.AST, prefix: str) -> Iterator[tuple[str, Function]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, Function):
                if not child.name.startswith("__"):
                    yield f"{prefix}.{child.name}", child
            elif isinstance(child, ast.ClassDef):
                yield from walk(child, f"{prefix}.{child.name}")

    return walk(ast.parse(path.read_text(encoding="utf-8")), module)


def format_signature(node: Function) -> str:
    """Return the parameters and the return type as they are written."""
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"({ast.unparse(node.args)}){returns}"


if __name__ == "__main__":
    main()
