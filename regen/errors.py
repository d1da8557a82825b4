"""The errors that a user can cause or meet. Each is one sentence: the cause, then the way out."""

import signal


class RegenError(Exception):
    """Base of all of them. `exit_code` is what the command line ends with."""

    exit_code = 1


class InputError(RegenError):
    """A wrong command line or input file."""

    exit_code = 2


class ConfigurationError(RegenError):
    """A setting or a credential that is missing or wrong."""

    exit_code = 3


class ProviderError(RegenError):
    """A model or a search provider that failed for good."""

    exit_code = 4


class UnreadableError(ProviderError):
    """A model replied, and what it was asked for is not in the reply."""


class LimitError(RegenError):
    """A run that ended early because it was to cost no more."""

    exit_code = 5


class CancelledError(RegenError):
    """Ctrl-C."""

    exit_code = 128 + signal.SIGINT


class UnfinishedError(RegenError):
    """Ctrl-C or a failure after there was something to show, which has been shown."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code
