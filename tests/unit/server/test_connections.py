"""Connections that send slowly, or without end, and a limit of open files."""

from __future__ import annotations

import asyncio
import sys
import time

import pytest
import uvicorn

from taxonomist.server import connections
from taxonomist.server.connections import BoundedConnection, allow_many_connections

HEAD = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n"


async def count_body(scope, receive, send):
    """Answer with the length of the body; the path /early answers at once."""
    size, is_more = 0, scope["type"] == "http" and scope["path"] != "/early"
    while is_more:
        message = await receive()
        size += len(message.get("body", b""))
        is_more = message.get("more_body", False)
    head = {"type": "http.response.start", "status": 200}
    text = b"%d" % size
    await send({**head, "headers": [(b"content-length", b"%d" % len(text))]})
    await send({"type": "http.response.body", "body": text})


def talk(conversation):
    """Run a conversation with a server in this process."""

    async def both():
        config = uvicorn.Config(
            count_body, port=0, http=BoundedConnection, log_config=None, lifespan="off"
        )
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve())
        while not server.started:
            await asyncio.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            return await asyncio.wait_for(conversation(reader, writer), 20)
        finally:
            writer.close()
            server.should_exit = True
            await serving

    return asyncio.run(both())


async def drip(writer, data, times):
    """Send the same again and again; return how often it could be sent."""
    for i in range(times):
        try:
            writer.write(data)
            await writer.drain()
        except ConnectionError:
            return i
        await asyncio.sleep(0.05)
    return times


async def rest_of(reader):
    """Return what still comes; nothing if the connection was closed while we sent."""
    try:
        return await reader.read()
    except ConnectionError:
        return b""


@pytest.mark.parametrize("first", [b"", b"POST / HT", HEAD, HEAD + b"\r\n12", HEAD + b"X: y"])
def test_a_request_that_does_not_end_is_given_up(monkeypatch, first):
    monkeypatch.setattr(connections, "REQUEST_SECONDS", 0.4)

    async def slowly(reader, writer):
        writer.write(first)
        start = time.monotonic()
        await drip(writer, b"a" if first.endswith(b"y") else b"", 20)
        assert await rest_of(reader) == b""
        return time.monotonic() - start

    assert talk(slowly) < 5


def test_a_second_request_that_does_not_end_is_given_up(monkeypatch):
    monkeypatch.setattr(connections, "REQUEST_SECONDS", 0.4)

    async def slowly(reader, writer):
        writer.write(HEAD + b"\r\n0123456789")
        assert b"200 OK" in await reader.readuntil(b"\r\n\r\n10")
        await asyncio.sleep(0.6)  # no request is on its way, so there is nothing to give up
        for part in (b"POST / HTTP/1.1\r\n", b"X: "):
            writer.write(part)
            await asyncio.sleep(0.05)
        await drip(writer, b"a", 20)
        return await rest_of(reader)

    assert talk(slowly) == b""


def test_requests_that_come_in_time_are_answered(monkeypatch):
    monkeypatch.setattr(connections, "REQUEST_SECONDS", 1.0)

    async def steadily(reader, writer):
        for _ in range(4):
            for part in (HEAD, b"\r\n012", b"3456", b"789"):
                writer.write(part)
                await asyncio.sleep(0.1)
            assert b"200 OK" in await reader.readuntil(b"\r\n\r\n10")
        writer.write(HEAD.replace(b"10\r\n", b"5000000\r\n") + b"\r\n" + b"a" * 5_000_000)
        return await reader.readuntil(b"\r\n\r\n5000000")

    assert b"200 OK" in talk(steadily)


def test_a_head_without_end_is_refused():
    async def without_end(reader, writer):
        writer.write(HEAD + b"X: ")
        n_sent = await drip(writer, b"a" * 20_000, 50)
        return n_sent, await rest_of(reader)

    n_sent, answer = talk(without_end)
    assert n_sent < 50
    assert b"431" in answer or answer == b""


def test_a_body_after_its_answer_is_read_to_its_end():
    async def early(reader, writer):
        size = 3_000_000
        writer.write(b"POST /early HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % size)
        answer = await reader.readuntil(b"\r\n\r\n0")
        await drip(writer, b"a" * (size // 4), 4)
        writer.write(HEAD + b"\r\n0123456789")
        return answer + await reader.readuntil(b"\r\n\r\n10")

    assert talk(early).count(b"200 OK") == 2


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit of open files")
def test_a_low_limit_of_open_files_is_raised(monkeypatch):
    import resource

    limits = {"now": (1024, 4096)}
    monkeypatch.setattr(resource, "getrlimit", lambda _: limits["now"])
    monkeypatch.setattr(resource, "setrlimit", lambda _, new: limits.update(now=new))
    allow_many_connections()
    assert limits["now"] == (4096, 4096)
    for kept in ((70_000, 80_000), (4096, 4096), (resource.RLIM_INFINITY, resource.RLIM_INFINITY)):
        limits["now"] = kept
        allow_many_connections()
        assert limits["now"] == kept
    limits["now"] = (1024, resource.RLIM_INFINITY)
    allow_many_connections()
    assert limits["now"] == (connections.MOST_FILES, resource.RLIM_INFINITY)
