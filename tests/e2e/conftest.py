"""What the end-to-end tests share."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.editor import CODER, NO_MODEL, SMALL, initialize, wait_for_state
from tests.e2e.rawclient import RawClient
from tests.e2e.scripted import COMMAND, Scripted

Start = Callable[..., RawClient]


def _starter(folder: Path) -> Iterator[Start]:
    clients: list[RawClient] = []
    numbers = itertools.count()

    def start(**options: Any) -> RawClient:
        client = RawClient(folder / f"server{next(numbers)}.log", **options)
        clients.append(client)
        return client

    yield start
    for client in clients:
        client.kill()
    twice = [
        (identifier, count)
        for client in clients
        for identifier, count in client.counts().items()
        if identifier is not None and count > 1
    ]
    assert twice == []


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts server processes for one test, and ends what is left of them."""
    yield from _starter(tmp_path)


@pytest.fixture(scope="module")
def start_for_module(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Start]:
    """Starts server processes that the tests of a module share."""
    yield from _starter(tmp_path_factory.mktemp("servers"))


@pytest.fixture(scope="module")
def small(start_for_module: Start) -> RawClient:
    """A server that is ready with the smallest model."""
    return _ready(start_for_module(), SMALL)


@pytest.fixture(scope="module")
def coder(start_for_module: Start) -> RawClient:
    """A server that is ready with the default model."""
    return _ready(start_for_module(), CODER)


@pytest.fixture(scope="module")
def modelless(start_for_module: Start) -> RawClient:
    """A server whose model can't be loaded: it answers everything, and completes nothing."""
    client = start_for_module()
    initialize(client, NO_MODEL)
    wait_for_state(client, "failed")
    return client


@pytest.fixture(scope="module")
def scripted(start_for_module: Start) -> Scripted:
    """A server over a model that writes what it's told."""
    return Scripted(start_for_module(command=COMMAND)).ready()


def _ready(client: RawClient, options: object) -> RawClient:
    initialize(client, options)
    wait_for_state(client, "ready")
    return client
