"""Readable text from chat messages and from contents in parts."""

import json
from typing import Any

_UNSEEN = ("reasoning", "thinking", "redacted_thinking")  # no part of the answer


def readable(value: Any, attachments: dict[str, str] | None = None) -> str | None:
    """Turn a text, a message, or a list of messages or parts into one text.

    A message alone is its content; of several, each is headed by its role. What is no
    text is named in brackets, as in ``[image]``. Reasoning is left out.

    Parameters
    ----------
    value : str, dict or list
        As harnesses and chat interfaces write it.
    attachments : dict of str, default=None
        Texts that Inspect keeps aside, by their names.

    Returns
    -------
    str or None
        None if it is none of these.
    """
    if isinstance(value, str):
        scheme, _, name = value.partition("attachment://")
        return (attachments or {}).get(name, value) if name and not scheme else value
    if isinstance(value, dict):
        value = [value]
    if not isinstance(value, list) or not all(_is_said(v) for v in value):
        return None
    if not (value and all(isinstance(v, dict) and "role" in v for v in value)):
        parts = [_part(part, attachments) for part in value]
        return "\n".join(part for part in parts if part is not None)
    said = [_message(message, attachments) for message in value]
    if len(said) == 1:
        return said[0]
    roles = [message["role"] for message in value]
    return "\n\n".join(f"{who}: {what}" for who, what in zip(roles, said, strict=True))


def only_media(value: Any) -> bool:
    """Tell whether contents in parts have an image, a sound or a film, and no text."""
    if isinstance(value, dict):
        value = [value.get("content")] if "role" in value else [value]
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], list):
        value = value[0]
    if not isinstance(value, list) or not value:
        return False
    kinds = {_kind(part) for part in value if isinstance(part, dict)}
    return bool(kinds & {"image", "image_url", "audio", "video"}) and not any(
        isinstance(part, str) or (isinstance(part, dict) and part.get("text"))
        for part in value
    )


def document(raw: bytes, name: str) -> Any:
    """Parse a file that is one document of JSON."""
    try:
        return json.loads(decoded(raw))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{name} is no JSON ({error}); is it cut short?") from error


def decoded(raw: bytes) -> str:
    """Return the text of a file, in whichever encoding of Unicode it is."""
    try:
        return raw.decode(json.detect_encoding(raw))
    except UnicodeDecodeError as error:
        raise ValueError(
            f"byte {error.start} is no {error.encoding}; save it as UTF-8."
        ) from error


def chat_of(text: str) -> str:
    """Make a prompt readable that is a list of messages written as JSON."""
    if not text.lstrip().startswith("[{"):
        return text
    try:
        messages = json.loads(text)
    except (ValueError, RecursionError):
        return text
    is_chat = all(isinstance(m, dict) and "role" in m for m in messages)
    return (readable(messages) if is_chat else None) or text


def _is_said(part: Any) -> bool:
    """Tell whether this is a text, a message, or a part of one."""
    if isinstance(part, str):
        return True
    known = ("text", "role", "type", "content_type")
    return isinstance(part, dict) and any(name in part for name in known)


def _kind(part: dict[str, Any]) -> str:
    return str(part.get("type") or part.get("content_type") or "part").split("/")[0]


def _part(part: Any, attachments: dict[str, str] | None) -> str | None:
    if isinstance(part, str):
        return readable(part, attachments)
    for name in ("text", "content"):
        if isinstance(part.get(name), str):
            return readable(part[name], attachments)
    kind = _kind(part)
    return None if kind in _UNSEEN else f"[{kind}]"


def _message(message: dict[str, Any], attachments: dict[str, str] | None) -> str:
    said = readable(message.get("content") or "", attachments) or ""
    for call in message.get("tool_calls") or []:
        if isinstance(call, dict):
            function = call.get("function")
            name = function.get("name") if isinstance(function, dict) else function
            said += f"\n[calls {name}]" if said else f"[calls {name}]"
    return said
