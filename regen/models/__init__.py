"""Language models: which one to use (`choose`), and the `dspy.LM` that calls it (`make_lm`)."""

from regen.models.build import gives_logprobs, make_lm
from regen.models.choice import ModelChoice, choose
from regen.models.limiter import limit

__all__ = ["ModelChoice", "choose", "gives_logprobs", "limit", "make_lm"]
