"""How numbers are said."""


def counted(number: float, thing: str) -> str:
    """1 node, 2 nodes, 0.5 seconds, 12,000 papers."""
    told = f"{int(number):,}" if float(number).is_integer() else f"{number:g}"
    return f"{told} {thing}{'' if number == 1 else 's'}"
