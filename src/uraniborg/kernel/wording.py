"""How numbers are said."""


def counted(number: float, thing: str, many: str | None = None) -> str:
    """Return 1 node, 2 nodes, 0.5 seconds, 12,000 papers; `many` is a plural that does not end in s alone."""
    told = f"{int(number):,}" if float(number).is_integer() else f"{number:g}"
    return f"{told} {thing if number == 1 else many or thing + 's'}"
