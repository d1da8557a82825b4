"""Makes what a command needs: the models, in DSPy's settings, with their downloads shown."""

from __future__ import annotations

from typing import Any

from regen.cli.terminal import console, download_bar
from regen.settings import Settings


def use_models(settings: Settings, *, quiet: bool) -> Any:
    """Makes the answering model DSPy's default. Returns the judging model, or None where it is the same one."""
    import dspy

    from regen.models import choose, make_lm

    def note(text: str) -> None:
        if not quiet:
            console(stderr=True).print(text, style="dim")

    with download_bar("Fetching the embedded model (once)", quiet=quiet) as progress:
        dspy.configure(lm=make_lm(choose(settings), settings, progress, note))
        if not settings.judge_model:
            return None
        return make_lm(choose(settings, "judge"), settings, progress, note)
