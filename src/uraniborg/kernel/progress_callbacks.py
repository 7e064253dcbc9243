"""Type of the callbacks that report the progress of long work; what they return is ignored."""

from collections.abc import Callable

ReportItem = Callable[[str], object]
"""Called with the name of each item when its turn comes."""
ReportFraction = Callable[[float], object]
"""Called with the fraction that is done, from 0 to 1."""
ReportCount = Callable[[int, int], object]
"""Called with the number of finished items and the total."""
ReportPhase = Callable[[str, int, int], object]
"""Called with the phase, the number of finished items and the total, 0 if unknown."""
