"""Where values come from: citations, commands and derived values of bodies, and the bibliography of a universe."""
