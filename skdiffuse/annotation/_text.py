"""Outputs as they can be shown: nothing in them acts on what shows them."""

import re

_BREAKS = re.compile("\r\n|[\r\x85\u2028\u2029]")
# Commands to a terminal, and signs that turn the direction of what stands around them.
_ACTING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    """Show what acts by its number, and every line break as one."""
    return _ACTING.sub(_name, _BREAKS.sub("\n", text))


def _name(found: re.Match[str]) -> str:
    return f"<U+{ord(found[0]):04X}>"
