"""The border: one conversation as it came, checked once, becomes a Dialogue or a reason that says what to do."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from empathia.corpora._text import Item
from empathia.errors import InputError
from empathia.schema import NOT_PARTICIPANTS, Dialogue, Problem, Turn


class Keys(NamedTuple):
    """What a format calls the list of messages, who speaks and what is said."""

    messages: str = "messages"
    role: str = "role"
    content: str = "content"


KEYS = Keys()
AGAIN = "the id came before in this file; both conversations are given: make ids unique to tell them apart"
ALONE = "only one participant: nothing answers another, so only tasks on single turns apply"
BROKEN = "a character that is no text (a lone surrogate, or a byte that is not UTF-8): save the file as UTF-8 again or remove it"
SURROGATE = re.compile("[\ud800-\udfff]")
PLAIN_NAME = re.compile(r"[\w.-]{1,30}")


def dialogues(items: Iterable[Item[Any] | Problem], *, keys: Keys = KEYS, again: str = AGAIN) -> Iterator[Dialogue | Problem]:
    """A dialogue per item, with notes on what limits it; an item that cannot be used is a problem, and the others go on."""
    seen: set[str] = set()
    for item in items:
        if isinstance(item, Problem):
            yield item
            continue
        try:
            found = _from_object(item, keys)
        except InputError as error:
            yield Problem(place=item.place, reason=str(error))
            continue
        if found.id in seen:
            yield Problem(place=item.place, reason=again, kind="note")
        seen.add(found.id)
        if len({turn.role for turn in found.turns} - NOT_PARTICIPANTS) == 1:
            yield Problem(place=item.place, reason=ALONE, kind="note")
        yield found


def _from_object(item: Item[Any], keys: Keys) -> Dialogue:
    value = {keys.messages: item.value} if isinstance(item.value, list) else item.value
    if not isinstance(value, dict):
        raise InputError(f'not an object: write {{"{keys.messages}": [{{"{keys.role}": …, "{keys.content}": …}}]}}')
    if keys.messages not in value:
        raise InputError(f"no `{keys.messages}` (keys here: {shown(value)}): rename the list of messages, or name the file's format")
    rest = {key: kept for key, kept in value.items() if key not in ("id", keys.messages)}
    return dialogue(value[keys.messages], _id(value.get("id"), item.number), metadata=rest, keys=keys)


def dialogue(messages: object, id: str = "1", *, metadata: Mapping[str, Any] | None = None, keys: Keys = KEYS) -> Dialogue:  # noqa: A002
    """The conversation as a Dialogue; an InputError names the message that cannot be used and the remedy."""
    if not isinstance(messages, Sequence) or isinstance(messages, str | bytes):
        raise InputError(f"`{keys.messages}` is not a list of messages, each with `{keys.role}` and `{keys.content}`")
    if not messages:
        raise InputError(f"`{keys.messages}` is empty: give at least one message, or remove the conversation")
    turns = tuple(_turn(message, f"message {number}", keys) for number, message in enumerate(messages, 1))
    if all(turn.role in NOT_PARTICIPANTS for turn in turns):
        raise InputError(f"no message of a participant: all are of {', '.join(sorted({turn.role for turn in turns}))}")
    return Dialogue(id=_text(id, "`id`"), group=id, turns=turns, metadata=_kept(metadata or {}, "the conversation"))


def shown(names: Iterable[object]) -> str:
    """Names of keys or columns for an error; what may be a message in the place of a name is left out."""
    plain = [str(name) for name in names if PLAIN_NAME.fullmatch(str(name))]
    return ", ".join(plain[:12]) or "none that is a plain name"


def _id(value: object, number: int) -> str:
    if value is None or value == "":
        return str(number)
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise InputError("`id` is neither text nor a whole number: write it as text")
    return str(value)


def _turn(message: object, where: str, keys: Keys) -> Turn:
    if not isinstance(message, Mapping):
        raise InputError(f'{where} is not an object: write {{"{keys.role}": …, "{keys.content}": …}}')
    role = message.get(keys.role)
    if not isinstance(role, str) or not role.strip():
        raise InputError(f"{where} has no `{keys.role}`: say who speaks, as text")
    content = _text(_content(message, where, keys), where)
    if not (content.strip() or message.get("tool_calls") or role in NOT_PARTICIPANTS):
        raise InputError(f"{where} is empty: give its text, or remove the message")
    rest = {key: value for key, value in message.items() if key not in (keys.role, keys.content)}
    return Turn(role=_text(role, f"the `{keys.role}` of {where}"), content=content, metadata=_kept(rest, where))


def _content(message: Mapping[str, Any], where: str, keys: Keys) -> str:
    content = message.get(keys.content)
    if content is None and message.get("tool_calls"):
        return ""
    if content is None:
        raise InputError(f"{where} has no `{keys.content}`: give its text, or remove the message")
    if isinstance(content, list):
        if not all(isinstance(part, dict) and isinstance(part.get("text"), str) for part in content):
            raise InputError(f"{where} has a content part that is not text: remove images, audio and files")
        return "\n".join(part["text"] for part in content)
    if not isinstance(content, str):
        raise InputError(f"`{keys.content}` of {where} is not text but {type(content).__name__}: write it between quotes")
    return content


def _text(text: str, where: str) -> str:
    if "\0" in text:
        raise InputError(f"{where} has a NUL character: remove it, or save the file as UTF-8 if it is UTF-16")
    if SURROGATE.search(text):
        raise InputError(f"{where} has {BROKEN}")
    return text


def _kept(metadata: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The other keys, untouched; they come back in the results and so must be JSON."""
    try:
        json.dumps(metadata, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except (TypeError, ValueError, RecursionError):
        reason = "holds a number that is not finite, a broken character or something else that JSON cannot write: remove it"
        raise InputError(f"a further key of {where} {reason}") from None
    return {str(key): value for key, value in metadata.items()}
