"""The fake endpoint."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from fake_openai import Endpoint


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    fake = Endpoint()
    yield fake
    fake.server.shutdown()
    fake.server.server_close()
