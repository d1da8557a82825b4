"""One hash over every prompt of a program, so that figures can be told to come from the same words."""

from __future__ import annotations

import hashlib
import inspect
import json
from typing import Any

from pydantic import TypeAdapter

from regen import (
    adapter,
    choosing,
    citations,
    claims,
    credibility,
    feedback,
    fence,
    kinds,
    readings,
    resolution,
    strategies,
)
from regen.judges import cascade, contrast, gather, lm, vote

# Where text that a model reads is put together, and its replies are read: what is around the signatures' own words.
_WORDING = (
    adapter,
    cascade,
    choosing,
    citations,
    claims,
    contrast,
    credibility,
    feedback,
    fence,
    gather,
    kinds,
    lm,
    readings,
    resolution,
    strategies,
    vote,
)


def prompts_hash(*modules: Any) -> str:
    """The first 16 hex digits of a SHA-256 over what DSPy modules say to a model.

    That is each named predictor's instructions, fields with their types, and demonstrations; and the source text of the
    modules that lay a prompt out, fence documents, offer choices, write feedback and ask for judgements. So a changed
    comment in one of those changes it too. What a judge of another package says outside its signatures is not in it.
    """
    said = [
        [
            name,
            predictor.signature.instructions,
            [
                [field, str(info.json_schema_extra), TypeAdapter(info.annotation).json_schema()]
                for field, info in predictor.signature.fields.items()
            ],
            [str(dict(demo)) for demo in predictor.demos],
        ]
        for module in modules
        for name, predictor in module.named_predictors()
    ]
    written = json.dumps([*said, *map(inspect.getsource, _WORDING)], sort_keys=True)
    return hashlib.sha256(written.encode()).hexdigest()[:16]
