"""From files to a shelf."""
