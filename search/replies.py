"""What replies of search APIs are read with: lenient types, and models that skip what cannot be read, and say so."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from search.http import HttpClient


class Reply(BaseModel):
    """Base of the models of replies: what an API adds to them is no error."""

    model_config = ConfigDict(frozen=True, extra="ignore")


_R = TypeVar("_R", bound=Reply)


def day(value: object) -> date | None:
    """The day in a date as an API writes it, or None: ISO 8601, RFC 2822, "Mar 5, 2024", "3 days ago", or seconds or
    milliseconds since 1970.
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return datetime.fromtimestamp(value / 1000 if abs(value) > 1e11 else value, UTC).date()
        except (ValueError, OverflowError, OSError):
            return None
    if not isinstance(value, str):
        return None
    text = " ".join(value[:60].split())
    if ago := re.fullmatch(r"(\d{1,3}) (minute|hour|day|week)s? ago", text.lower()):
        return (datetime.now(UTC) - timedelta(**{f"{ago[2]}s": int(ago[1])})).date()
    for pattern in ("%b %d, %Y", "%B %d, %Y", "%d %b %Y", "%d %B %Y"):
        try:
            return datetime.strptime(text, pattern).date()
        except ValueError:
            continue
    try:
        return date.fromisoformat(text[:10])
    except ValueError:
        pass
    try:
        return parsedate_to_datetime(text).date()
    except (ValueError, OverflowError):
        return None


Text = Annotated[str, BeforeValidator(lambda value: "" if value is None else value)]
"""A text that an API may leave out or give as null."""

Day = Annotated[date | None, BeforeValidator(day)]
"""A date in any of the forms that `day` reads; None for all else."""

Items = Annotated[list[Any], BeforeValidator(lambda value: [] if value is None else value)]
"""A list that an API may leave out or give as null, each of whose items is read on its own."""


def plain(text: str) -> str:
    """Text without the tags and entities of HTML that an API puts in it."""
    return html.unescape(re.sub(r"</?[a-zA-Z][^<>]*>", "", text))


def read(client: HttpClient, model: type[_R], value: object) -> _R:
    """A whole reply.

    Raises:
        SearchError: it is not as published (`bad reply`). One with none of the fields of `model` is not either: `{}`,
            or an error with the status of a success, would otherwise be taken for no result.
    """
    try:
        found = model.model_validate(value)
    except (ValidationError, RecursionError) as error:
        raise client.bad_reply(_cause(error)) from None
    if not found.model_fields_set:
        raise client.bad_reply("none of the fields it publishes")
    return found


def read_each(client: HttpClient, model: type[_R], values: Sequence[object]) -> tuple[list[_R], list[str]]:
    """The results of a reply that can be read, and a warning where there are others.

    Raises:
        SearchError: none can be read (`bad reply`).
    """
    found, cause = [], ""
    for value in values:
        try:
            found.append(model.model_validate(value))
        except (ValidationError, RecursionError) as error:
            cause = cause or _cause(error)
    lost = len(values) - len(found)
    if lost and not found:
        raise client.bad_reply(f"no result as published; {cause}")
    what = "1 result" if lost == 1 else f"{lost} results"
    return found, [f"{what} of {client.provider} cannot be read, and left out ({cause})."] if lost else []


def _cause(error: ValidationError | RecursionError) -> str:
    if isinstance(error, RecursionError):
        return "nested too deep"
    first = error.errors(include_input=False, include_url=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    return f"{place}: {first['msg']}" if place else first["msg"]
