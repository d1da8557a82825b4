"""regen: answer from search results, find where the sources disagree about the answer, and answer again.

Importing this is cheap: DSPy and what else is heavy loads when a name here is first used.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from regen.quiet import prepare_environment

if TYPE_CHECKING:
    from regen.compiling import optimize
    from regen.conflict import aggregate
    from regen.errors import ConfigurationError, InputError, ProviderError, RegenError
    from regen.program import Regen, result_of
    from regen.report import ReportWriter
    from regen.scoring import Scorer, score
    from regen.types import (
        Answer,
        Claim,
        ConflictReport,
        Credibility,
        Document,
        Evidence,
        Judgement,
        Result,
        Stance,
        Usage,
    )

_HOME = {
    "Regen": "program",
    "result_of": "program",
    "ReportWriter": "report",
    "Scorer": "scoring",
    "score": "scoring",
    "aggregate": "conflict",
    "optimize": "compiling",
    **dict.fromkeys(["ConfigurationError", "InputError", "ProviderError", "RegenError"], "errors"),
    **dict.fromkeys(
        [
            "Answer",
            "Claim",
            "ConflictReport",
            "Credibility",
            "Document",
            "Evidence",
            "Judgement",
            "Result",
            "Stance",
            "Usage",
        ],
        "types",
    ),
}

prepare_environment()

__version__ = version("regen")
__all__ = [
    "Answer",
    "Claim",
    "ConfigurationError",
    "ConflictReport",
    "Credibility",
    "Document",
    "Evidence",
    "InputError",
    "Judgement",
    "ProviderError",
    "Regen",
    "RegenError",
    "ReportWriter",
    "Result",
    "Scorer",
    "Stance",
    "Usage",
    "aggregate",
    "optimize",
    "result_of",
    "score",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'regen' has no attribute {name!r}")
    return getattr(import_module(f"regen.{_HOME[name]}"), name)
