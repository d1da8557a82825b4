"""A DSPy adapter without field markers: short prompts, and an answer that begins with its first word.

A weak model loses its way among markers, and the log-probabilities of an option's letter can only be read where the
letter comes first. Inputs that are not given leave no trace, so that a prompt with feedback begins with the very text
of the prompt without it.
"""

from __future__ import annotations

import re
import textwrap
from contextlib import suppress
from typing import Any, get_args, get_origin

import dspy
from pydantic import ValidationError

_BULLET = re.compile(r"^\s*(?:[-*\u2022]|\(?\d{1,2}[.):])\s+")
_NOTHING = {"", "none", "none.", "n/a", "(none)"}
# Signatures that are remembered; an optimizer makes one for every wording that it tries.
_REMEMBERED = 64


class _JSONAdapter(dspy.JSONAdapter):
    """DSPy's, which works out the system message and the reply's schema anew for every call: here once a signature."""

    def __init__(self) -> None:
        super().__init__()
        self._schemas: dict[Any, Any] = {}
        self._system: dict[Any, str] = {}

    def format_system_message(self, signature: Any) -> str:
        key = signature, signature.instructions
        if (made := self._system.get(key)) is None:
            made = super().format_system_message(signature)
            _remember(self._system, key, made)
        return made

    def _prepare_response_format(self, lm: Any, lm_kwargs: Any, signature: Any) -> None:
        takes_schema = "response_format" in lm.supported_params and lm.supports_response_schema
        if takes_schema and (made := self._schemas.get(signature)) is not None:
            lm_kwargs["response_format"] = made
            return
        super()._prepare_response_format(lm, lm_kwargs, signature)
        if takes_schema and isinstance(lm_kwargs["response_format"], type):
            _remember(self._schemas, signature, lm_kwargs["response_format"])

    def parse(self, signature: Any, completion: str) -> dict[str, Any]:
        if (asked := self._schemas.get(signature)) is not None:
            # DSPy mends what is no such JSON, and makes a validator for each field of each reply to do it.
            with suppress(ValidationError):
                return dict(asked.model_validate_json(completion))
        read: dict[str, Any] = super().parse(signature, completion)
        return read


def _remember(kept: dict[Any, Any], key: Any, value: Any) -> None:
    # Judges ask from several threads: the dictionary is never emptied while one reads it.
    for old in list(kept)[: max(0, len(kept) - _REMEMBERED + 1)]:
        kept.pop(old, None)
    kept[key] = value


_JSON = _JSONAdapter()


class PlainAdapter(dspy.ChatAdapter):
    """Renders a signature as plain text where it has one output of text or of lines; others go through JSON."""

    def __call__(self, lm: Any, lm_kwargs: Any, signature: Any, demos: Any, inputs: Any) -> Any:
        if not _is_plain(signature):
            return _JSON(lm, lm_kwargs, signature, demos, inputs)
        return super().__call__(lm, lm_kwargs, signature, demos, inputs)

    async def acall(self, lm: Any, lm_kwargs: Any, signature: Any, demos: Any, inputs: Any) -> Any:
        if not _is_plain(signature):
            return await _JSON.acall(lm, lm_kwargs, signature, demos, inputs)
        return await super().acall(lm, lm_kwargs, signature, demos, inputs)

    def format_system_message(self, signature: Any) -> str:
        (name, field) = next(iter(signature.output_fields.items()))
        reply = (field.json_schema_extra or {}).get("desc") or name
        instructions = textwrap.dedent(signature.instructions).strip()
        return instructions if "reply" in instructions.lower() else f"{instructions}\n\nReply with {reply}."

    def format_user_message_content(
        self, signature: Any, inputs: dict[str, Any], prefix: str = "", suffix: str = "", main_request: bool = False
    ) -> str:
        parts = [prefix]
        for name in signature.input_fields:
            value = inputs.get(name)
            if value is None or value == "":
                continue
            # Documents bring their own fence, and come first in every prompt.
            label = "" if name in {"document", "documents"} else f"{name.replace('_', ' ').capitalize()}: "
            line = "\n" if label and "\n" in str(value) else ""
            parts.append(f"{label.rstrip() if line else label}{line}{value}")
        return "\n\n".join(part for part in [*parts, suffix] if part).strip()

    def format_demos(self, signature: Any, demos: list[dict[str, Any]]) -> list[dict[str, Any]]:
        # An input that may be left out is not missing: DSPy would say before the example that it is.
        optional = {
            name: "" for name, field in signature.input_fields.items() if type(None) in get_args(field.annotation)
        }
        whole = [{**dict(demo), **{n: e for n, e in optional.items() if demo.get(n) is None}} for demo in demos]
        messages: list[dict[str, Any]] = super().format_demos(signature, whole)
        return messages

    def format_assistant_message_content(
        self, signature: Any, outputs: dict[str, Any], missing_field_message: str | None = None
    ) -> str:
        name = next(iter(signature.output_fields))
        value = outputs.get(name, missing_field_message)
        return "\n".join(map(str, value)) if isinstance(value, list) else str(value)

    def parse(self, signature: Any, completion: str) -> dict[str, Any]:
        name, field = next(iter(signature.output_fields.items()))
        text = completion.strip()
        if field.annotation is str:
            return {name: text}
        lines = [_BULLET.sub("", line).strip() for line in text.splitlines()]
        # A line that ends in a colon announces the others.
        return {name: [line for line in lines if line.lower() not in _NOTHING and not line.endswith(":")]}


def _is_plain(signature: Any) -> bool:
    fields = list(signature.output_fields.values())
    return len(fields) == 1 and (
        fields[0].annotation is str
        or (get_origin(fields[0].annotation) is list and fields[0].annotation.__args__ == (str,))
    )
