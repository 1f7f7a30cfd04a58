"""Clients over TCP, Unix sockets and WebSockets: several at once, one engine, and who's refused."""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest
from websockets.exceptions import InvalidStatus

from tests.e2e.editor import change, initialize, open_document, stats, wait_for_state, wish
from tests.e2e.guests import SERVE, Guest, Host, in_parallel
from tests.e2e.rawclient import DEADLINE, ROOT, Message, encoded
from tests.e2e.scripted import INLINE, OPTIONS
from tests.e2e.scripted_server import ANSWER, SEEN

pytestmark = pytest.mark.e2e

TOKEN = "0123456789abcdef0123456789abcdef"
URI = "file:///project/a.py"
START: Message = {"processId": None, "rootUri": None, "capabilities": {}}

Hosts = Callable[..., Host]
G = TypeVar("G", bound=Guest)


@pytest.fixture
def hosts(tmp_path: Path) -> Iterator[Hosts]:
    """Starts servers that listen, and ends what is left of them."""
    started: list[Host] = []

    def start(*arguments: str, **options: Any) -> Host:
        host = Host(tmp_path / f"host{len(started)}.log", *arguments, **options)
        started.append(host)
        return host

    yield start
    for host in started:
        host.kill()
        for guest in host.guests:
            assert max(guest.counts().values(), default=1) == 1
        assert "Traceback" not in host.log()


def come(host: Host, way: str, place: str) -> Guest:
    """A client that comes this way."""
    if way == "--tcp":
        return host.tcp(place)
    return host.unix(place) if way == "--socket" else host.websocket(place)


def ready(client: G, text: str = "hello", uri: str = URI, **options: object) -> G:
    """Shake hands, and open a document with ``text``."""
    initialize(client, OPTIONS | options)
    wait_for_state(client, "ready")
    open_document(client, text, uri)
    return client


def completed(client: Guest, character: int = 0, uri: str = URI) -> str:
    """The text of the one item at a place in the first line."""
    (item,) = client.call(INLINE, wish(0, character, uri))["items"]
    return str(item["insertText"])


def says(client: Guest, answer: str) -> None:
    client.call(ANSWER, {"tokens": list(answer.encode()), "endless": False})


WAYS = ["--tcp", "--socket", "--ws"]


def arguments_of(way: str, tmp_path: Path) -> tuple[str, str]:
    return way, str(tmp_path / "specls.sock") if way == "--socket" else "127.0.0.1:0"


@pytest.mark.parametrize("way", WAYS)
def test_a_conversation(hosts: Hosts, tmp_path: Path, way: str) -> None:
    """All that works over stdin works each way: completions, changes, shutdown and exit."""
    host = hosts(*arguments_of(way, tmp_path))
    client = ready(come(host, way, host.place()), "a = 🤗\n")
    says(client, "b")
    client.notify("textDocument/didChange", change((0, 4), (0, 6), "", URI))
    assert completed(client, 4) == "a = b"
    client.say_goodbye()
    assert host.process.poll() is None
    assert host.terminate() == 0


@pytest.mark.parametrize("way", WAYS)
def test_several_at_once(hosts: Hosts, tmp_path: Path, way: str) -> None:
    """Three clients have the same document with other texts, and one engine: one load."""
    host = hosts(*arguments_of(way, tmp_path))
    place = host.place()
    clients = [ready(come(host, way, place), f"text_{number} = ") for number in range(3)]
    says(clients[0], "1")
    for number, client in enumerate(clients):
        assert completed(client, 9) == f"text_{number} = 1"
        assert f"text_{number}" in client.call(SEEN)["prompt"]
    assert clients[0].call(SEEN)["loads"] == 1
    assert [stats(client)["requests"]["answered"] for client in clients] == [1, 1, 1]

    def talk(client: Guest) -> None:
        for _ in range(50):
            client.notify("textDocument/didChange", change((0, 9), (0, 9), "x", URI))
            client.request(INLINE, wish(0, 10))
        client.sync()

    in_parallel(*(lambda client=client: talk(client) for client in clients))
    for client in clients:
        for identifier in range(1, client.next_id()):
            client.answer(identifier)


def test_all_ways_at_once_share_one_engine(hosts: Hosts, tmp_path: Path) -> None:
    """Clients that came in different ways are served by the same models."""
    path = str(tmp_path / "specls.sock")
    host = hosts("--tcp", "127.0.0.1:0", "--socket", path, "--ws", "[::1]:0")
    places = [host.place() for _ in range(3)]
    assert places[1] == path
    assert places[2].startswith("ws://[::1]:")
    clients = [host.tcp(places[0]), host.unix(path), host.websocket(places[2])]
    for client in clients:
        ready(client)
    says(clients[0], "world")
    assert [completed(client, 5) for client in clients] == ["helloworld"] * 3
    assert clients[2].call(SEEN)["loads"] == 1


def test_each_has_its_own_encoding_and_settings(hosts: Hosts) -> None:
    """Positions are counted as each client counts, and settings for requests are its own."""
    host = hosts("--tcp", "127.0.0.1:0")
    place = host.place()
    first, second = host.tcp(place), host.tcp(place)
    initialize(first, OPTIONS, general={"positionEncodings": ["utf-8"]})
    initialize(second, OPTIONS | {"maxTokens": 2}, general={"positionEncodings": ["utf-16"]})
    for client in (first, second):
        wait_for_state(client, "ready")
        open_document(client, "a = '🤗' + ", URI)
    says(first, "value")
    # The range begins behind the emoji: see convert.spot_of.
    assert completed(first, 13) == "' + value"
    assert completed(second, 11) == "' + va"


def test_who_comes_later_is_told_that_other_models_are_loaded(hosts: Hosts) -> None:
    """Settings that need other models don't load them while others are connected."""
    host = hosts("--tcp", "127.0.0.1:0")
    place = host.place()
    first = ready(host.tcp(place))
    second = ready(host.tcp(place), model="another")
    second.wait(lambda: bool(second.shown()), "the message")
    assert "Another editor window" in second.shown()[0]["message"]
    assert first.shown() == []
    changed = {"settings": {"specls": OPTIONS | {"model": "a third"}}}
    second.notify("workspace/didChangeConfiguration", changed)
    first.poll(lambda: stats(first)["models"], lambda models: bool(models["target"] == "a third"))
    assert first.call(SEEN)["loads"] == 2


def test_who_leaves_takes_only_what_is_its_own(hosts: Hosts) -> None:
    """A connection that breaks during a completion doesn't disturb the others."""
    host = hosts("--tcp", "127.0.0.1:0")
    place = host.place()
    stays, leaves = ready(host.tcp(place)), ready(host.tcp(place))
    stays.call(ANSWER, {"tokens": list(b"x = 1\n"), "endless": True})
    leaves.request(INLINE, wish(0, 5))
    leaves.kill()
    says(stays, "world")
    assert completed(stays, 5) == "helloworld"
    assert ready(host.tcp(place)).call(SEEN)["loads"] == 1


# -- who isn't served ----------------------------------------------------------------------------


def token_file(tmp_path: Path) -> str:
    file = tmp_path / "token"
    file.write_text(TOKEN + "\n", "utf-8")
    file.chmod(0o600)
    return str(file)


@pytest.mark.parametrize("way", WAYS)
def test_the_token_is_asked_for(hosts: Hosts, tmp_path: Path, way: str) -> None:
    """Without the right token the handshake is refused with a reason, and the connection ends."""
    host = hosts(*arguments_of(way, tmp_path), "--token-file", token_file(tmp_path))
    place = host.place()
    for options in (None, {}, {"token": ""}, {"token": TOKEN[:-1]}, {"token": [TOKEN]}):
        stranger = come(host, way, place)
        early = stranger.request("specls/stats")
        refused = stranger.request("initialize", START | {"initializationOptions": options})
        assert stranger.code(early) == -32002
        answer = stranger.answer(refused)["error"]
        assert (answer["code"], "initializationOptions" in answer["message"]) == (-32600, True)
        stranger.wait_for_close()
    friend = ready(come(host, way, place), token=TOKEN)
    assert friend.shown() == []
    assert TOKEN not in host.log()


def test_the_token_may_be_in_the_environment(hosts: Hosts) -> None:
    """SPECLS_TOKEN is asked for as well."""
    host = hosts("--tcp", "127.0.0.1:0", env={"SPECLS_TOKEN": TOKEN})
    place = host.place()
    stranger = host.tcp(place)
    assert stranger.code(stranger.request("initialize", START)) == -32600
    ready(host.tcp(place), token=TOKEN)


@pytest.mark.parametrize("way", ["--tcp", "--ws"])
def test_strangers_may_not_send_much(hosts: Hosts, way: str, tmp_path: Path) -> None:
    """Before the handshake a long message isn't taken into memory; after it, it's read."""
    host = hosts(*arguments_of(way, tmp_path))
    client = come(host, way, host.place())
    if way == "--tcp":
        client.send({"jsonrpc": "2.0", "id": 1, "method": "x", "params": "y" * (1 << 20)})
        error = client.answer(None)["error"]
        assert (error["code"], "1048576" in error["message"]) == (-32600, True)
    ready(client, "y" * (1 << 22))


@pytest.mark.parametrize("origin", [None, "http://localhost:3000"])
def test_pages_that_are_allowed(hosts: Hosts, origin: str | None) -> None:
    """A page that was named, and what is no page, is served; text goes out, both come in."""
    host = hosts("--ws", "127.0.0.1:0", "--allow-origin", "http://localhost:3000/")
    place = host.place()
    for binary in (False, True):
        client = host.websocket(place, origin=origin, binary=binary)
        ready(client)
        assert client.kinds == {str}


@pytest.mark.parametrize(
    ("headers", "told"),
    [
        ({"Origin": "https://evil.example"}, "--allow-origin https://evil.example"),
        ({"Origin": "http://localhost:3001"}, "--allow-origin http://localhost:3001"),
        ({"Origin": "null"}, "--allow-origin"),
        ({"Host": "evil.example"}, "isn't this machine"),
        ({"Host": "127.0.0.1.evil.example"}, "isn't this machine"),
    ],
)
def test_pages_that_are_not(hosts: Hosts, headers: dict[str, str], told: str) -> None:
    """Another page's connection, and one by another name, are refused with 403 and a reason."""
    host = hosts("--ws", "127.0.0.1:0", "--allow-origin", "http://localhost:3000")
    address = host.place().removeprefix("ws://")
    port = int(address.rpartition(":")[2])
    lines = {
        "Host": address,
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Key": "x3JJHMbDL1EzLkh9GBhXDw==",
        "Sec-WebSocket-Version": "13",
    } | headers
    request = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    with socket.create_connection(("127.0.0.1", port), DEADLINE) as connection:
        connection.sendall(f"GET / HTTP/1.1\r\n{request}\r\n".encode())
        answer = b""
        while data := connection.recv(65536):
            answer += data
    assert answer.startswith(b"HTTP/1.1 403 ")
    assert told in answer.decode()


def test_the_library_sees_the_same_refusal(hosts: Hosts) -> None:
    """A client library reports the refusal as such."""
    host = hosts("--ws", "127.0.0.1:0")
    with pytest.raises(InvalidStatus, match="403"):
        host.websocket(host.place(), origin="http://localhost:3000")


def test_what_a_page_can_send_to_a_tcp_port_does_nothing(hosts: Hosts) -> None:
    """An HTTP request with a message of LSP in it isn't one."""
    host = hosts("--tcp", "127.0.0.1:0")
    client = host.tcp(host.place())
    message = encoded({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": START})
    body = message.partition(b"\r\n\r\n")[2]
    head = b"POST /a:b HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body)
    client.send_bytes(head + body)
    client.wait_for_close()
    assert client.received == []


# -- places --------------------------------------------------------------------------------------


def test_the_socket_is_its_owners_alone(hosts: Hosts, tmp_path: Path) -> None:
    """Its mode is 0600, and it's gone when the server has ended."""
    path = tmp_path / "specls.sock"
    host = hosts("--socket", str(path))
    assert host.place() == str(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert host.terminate() == 0
    assert not path.exists()


def test_a_socket_that_was_left_behind_is_taken_over(hosts: Hosts, tmp_path: Path) -> None:
    """After SIGKILL the file is there, nobody listens, and the next server takes the path."""
    path = tmp_path / "specls.sock"
    host = hosts("--socket", str(path))
    host.place()
    host.process.send_signal(signal.SIGKILL)
    host.process.wait(DEADLINE)
    assert path.exists()
    again = hosts("--socket", str(path))
    ready(again.unix(again.place()))


def refused(*arguments: str, env: dict[str, str] | None = None) -> tuple[int, str]:
    """The exit code and the error of a server that can't be started so."""
    done = subprocess.run(
        [*SERVE, *arguments],
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        stdin=subprocess.DEVNULL,
        cwd=ROOT,
        env={**os.environ, **(env or {})},
        check=False,
    )
    assert done.stdout == ""
    return done.returncode, done.stderr


def test_places_that_are_taken(hosts: Hosts, tmp_path: Path) -> None:
    """A port or socket in use, and a path where something else lies, are errors that say so."""
    path = tmp_path / "specls.sock"
    host = hosts("--tcp", "127.0.0.1:0", "--socket", str(path))
    place = host.place()
    assert host.place() == str(path)
    assert refused("--tcp", place) == (
        2,
        f"specls: {place} is in use: end what listens there, or take another port, or port 0.\n",
    )
    code, told = refused("--socket", str(path))
    assert (code, "listens at" in told) == (2, True)
    file = tmp_path / "file"
    file.write_text("precious", "utf-8")
    code, told = refused("--socket", str(file))
    assert (code, "isn't a socket" in told) == (2, True)
    assert file.read_text("utf-8") == "precious"
    ready(host.unix(str(path)))


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--tcp", "0.0.0.0:0"], "--allow-remote and a token"),
        (["--ws", "[::]:0"], "--allow-remote and a token"),
        (["--tcp", "0.0.0.0:0", "--allow-remote"], "give --token-file or set SPECLS_TOKEN"),
        (["--tcp", "here"], "is no address"),
        (["--tcp", "127.0.0.1:70000"], "is no address"),
        (["--ws", "127.0.0.1:0", "--allow-origin", "*"], "is no origin"),
        (["--ws", "127.0.0.1:0", "--allow-origin", "null"], "is no origin"),
        (["--tcp", "127.0.0.1:0", "--allow-origin", "http://a"], "is for --ws"),
        (["--tcp", "127.0.0.1:0", "--stdio"], "can't be combined"),
        (["--token-file", "x"], "needs --tcp, --socket or --ws"),
        (["--tcp", "127.0.0.1:0", "--token-file", "/nowhere/x"], "can't be read"),
        (["--socket", "/nowhere/x"], "can't be made a socket"),
    ],
)
def test_what_is_wrong_is_said(arguments: list[str], told: str) -> None:
    """A way that can't be or mayn't be gone is one line that names what to do, and exit code 2."""
    code, error = refused(*arguments)
    assert (code, told in error, error.count("\n")) == (2, True, 1)


def test_a_bad_token_is_refused_at_the_start(tmp_path: Path) -> None:
    """A token that can be guessed, or that others can read, protects nothing."""
    file = Path(token_file(tmp_path))
    file.chmod(0o644)
    code, told = refused("--tcp", "127.0.0.1:0", "--token-file", str(file))
    assert (code, "chmod 600" in told) == (2, True)
    code, told = refused("--tcp", "127.0.0.1:0", env={"SPECLS_TOKEN": "guess"})
    assert (code, "at least 16 characters" in told) == (2, True)


# -- the end -------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("way", WAYS)
def test_signals_end_it(hosts: Hosts, tmp_path: Path, way: str, number: signal.Signals) -> None:
    """SIGTERM and ctrl-C close all connections, and the process ends with 0."""
    host = hosts(*arguments_of(way, tmp_path))
    client = ready(come(host, way, host.place()))
    host.process.send_signal(number)
    assert host.process.wait(DEADLINE) == 0
    client.wait_for_close()


def test_it_may_end_when_nobody_is_there(hosts: Hosts) -> None:
    """With --exit-when-idle the server ends by itself, but not while somebody is connected."""
    host = hosts("--tcp", "127.0.0.1:0", "--exit-when-idle", "0.5")
    client = ready(host.tcp(host.place()))
    with pytest.raises(subprocess.TimeoutExpired):
        host.process.wait(1.0)
    client.leave()
    assert host.process.wait(DEADLINE) == 0


def test_a_client_that_does_not_read_is_left(hosts: Hosts) -> None:
    """It can't make the server keep any amount for it; the others are served meanwhile."""
    host = hosts("--tcp", "127.0.0.1:0")
    place = host.place()
    port = int(place.rpartition(":")[2])
    other = ready(host.tcp(place))
    with socket.create_connection(("127.0.0.1", port)) as deaf:
        deaf.sendall(encoded({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": START}))
        ask = b"".join(
            encoded({"jsonrpc": "2.0", "id": f"{'x' * 60000}{number}", "method": "no"})
            for number in range(100)
        )
        deaf.settimeout(DEADLINE)

        def ask_on() -> None:
            # What still comes is read for two seconds, at gigabytes a second.
            for _ in range(20_000):
                deaf.sendall(ask)

        with pytest.raises(OSError, match=r"reset|pipe"):
            ask_on()
    assert "The client doesn't read" in host.log()
    says(other, "world")
    assert completed(other, 5) == "helloworld"
