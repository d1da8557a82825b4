"""What judges that hold prompts, or other judges, have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dspy

from regen.judges import Judge
from regen.types import Claim, Document


class JudgeModule(dspy.Module):
    """A judge that is a DSPy module, so that an optimizer can compile it, alone or in a program."""

    def forward(self, claims: Sequence[Claim], documents: Sequence[Document], **options: Any) -> Any:
        """As `judge`, in a `dspy.Prediction`."""
        return dspy.Prediction(judgement=self.judge(claims, documents, **options))


class JointJudge(JudgeModule):
    """A judge that is made of others."""

    # A list of modules, so that an optimizer finds the predictors in them.
    judges: list[Judge]

    @property
    def identity(self) -> str | None:
        """Those of the judges that have model files of their own; None where none has."""
        return ",".join(filter(None, (getattr(judge, "identity", None) for judge in self.judges))) or None
