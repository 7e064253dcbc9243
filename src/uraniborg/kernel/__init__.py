"""The ground every part stands on. It knows no part."""
