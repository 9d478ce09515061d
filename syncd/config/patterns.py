"""Patterns that values of a configuration match, each with what it means in words."""

NAME = r"^[a-z0-9][a-z0-9._-]{0,62}$"
SPACE_ID = r"^[A-Za-z0-9_-]{1,128}$"
INSTANCE = r"^[0-9a-f]{6}$"
PATTERN_MEANINGS = {
    NAME: "must be small letters, digits, ., _ and -, beginning with a letter or a digit, 63 at most",
    SPACE_ID: "must be the id of a space: letters, digits, - and _",
    INSTANCE: "must be six digits from 0 to f, in small letters",
}
"""What a value must be that is checked by a pattern, in words."""
