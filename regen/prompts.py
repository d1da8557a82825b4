"""One hash over every prompt of a program, so that figures can be told to come from the same words."""

from __future__ import annotations

import hashlib
import inspect
import json
from typing import Any

from regen import feedback


def prompts_hash(*modules: Any) -> str:
    """The first 16 hex digits of a SHA-256 over what DSPy modules say to a model.

    That is each named predictor's instructions, fields and demonstrations, and the code that words the feedback.
    """
    said = [
        [
            name,
            predictor.signature.instructions,
            [[field, str(info.json_schema_extra)] for field, info in predictor.signature.fields.items()],
            [str(dict(demo)) for demo in predictor.demos],
        ]
        for module in modules
        for name, predictor in module.named_predictors()
    ]
    written = json.dumps([*said, inspect.getsource(feedback)], sort_keys=True)
    return hashlib.sha256(written.encode()).hexdigest()[:16]
