"""A `dspy.LM` for models that LiteLLM reaches, held to the process's limit on calls in flight.

Import it with the environment prepared (`quiet.import_dspy`): it imports dspy.
"""

from __future__ import annotations

from typing import Any

import dspy

from regen.models import limiter


class LimitedLM(dspy.LM):
    """As `dspy.LM`. A slot is held over a call's retries too: LiteLLM's engine has no narrower place to hold it."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """As `dspy.LM`, once there is a free slot."""
        with limiter.PROCESS.slot():
            return super().__call__(*args, **kwargs)

    async def acall(self, *args: Any, **kwargs: Any) -> Any:
        """As `dspy.LM`, once there is a free slot."""
        async with limiter.PROCESS.aslot():
            return await super().acall(*args, **kwargs)
