"""A process of its own that reads fetched pages, so that one that hangs or breaks its parser is only one page lost."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import weakref
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import IO, Any

from search.fetch import Fetched
from search.parse import Page
from search.text import UnreadableError

START_SECONDS = 30.0  # to load what reads pages, on a machine that is busy

# All of the environment that it gets: no key of the user's is at hand where a hostile page is read.
_ENVIRONMENT = ("PATH", "SYSTEMROOT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "TMPDIR", "TEMP", "LANG", "LC_ALL")


class ParserProcess:
    """Reads one page at a time; started by `start` or the first page, and anew after a page that broke it.

    It ends with this object, and when this process ends, whatever way that is.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._process: subprocess.Popen[bytes] | None = None
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._loaded = False

    def start(self) -> None:
        """Start loading, if that has not been done yet, and return at once."""
        with self._lock, suppress(UnreadableError):  # which the first page will meet again
            self._running()

    def turn(self) -> AbstractContextManager[bool]:
        """While inside, no other thread gets the parser."""
        return self._lock

    def parse(self, page: Fetched, seconds: float) -> Page:
        """What a page says.

        Raises:
            UnreadableError: it can't be read, or not in `seconds`.
        """
        with self._lock:
            process = self._running()
            if not self._loaded:
                self._reply(START_SECONDS, "the parser did not start")
                self._loaded = True
            head = {"kind": page.kind, "charset": page.charset, "size": len(page.data)}
            assert process.stdin is not None
            try:
                process.stdin.write(json.dumps(head).encode() + b"\n" + page.data)
                process.stdin.flush()
            except OSError:
                self._end()
                raise UnreadableError("its parser broke down") from None
            reply = self._reply(seconds, f"reading it took more than {seconds:.0f} seconds")
        if "cause" in reply:
            raise UnreadableError(reply["cause"])
        return Page.model_validate(reply["page"])

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            room = str(Path(__file__).parents[1])
            environment = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
            # -P: a module in the folder that the user happens to stand in is not ours to run.
            try:
                self._process = subprocess.Popen(
                    [sys.executable, "-P", "-m", "search.parse"],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    env=environment | {"PYTHONPATH": room},
                )
            except OSError as error:
                raise UnreadableError(f"its parser cannot be started ({error.strerror})") from None
            self._lines, self._loaded = queue.SimpleQueue(), False
            assert self._process.stdout is not None
            threading.Thread(target=_pump, args=(self._process.stdout, self._lines), daemon=True).start()
            self._finalizer = weakref.finalize(self, _kill, self._process)
        return self._process

    def _reply(self, seconds: float, too_late: str) -> dict[str, Any]:
        try:
            line = self._lines.get(timeout=seconds)
        except queue.Empty:
            self._end()
            raise UnreadableError(too_late) from None
        if not line:
            self._end()
            raise UnreadableError("its parser broke down")
        reply: dict[str, Any] = json.loads(line)
        return reply

    def _end(self) -> None:
        self._finalizer()
        self._process = None


def _pump(source: IO[bytes], lines: queue.SimpleQueue[bytes]) -> None:
    """Puts each line into `lines`, then b"" for the end."""
    with source:
        for line in iter(source.readline, b""):
            lines.put(line)
    lines.put(b"")


def _kill(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    if process.stdin is not None:
        with suppress(OSError):  # what is left to write has nobody to read it
            process.stdin.close()
