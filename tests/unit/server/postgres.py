"""A PostgreSQL server that the tests start themselves."""

from __future__ import annotations

import os
import socket
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

from tests.unit.server.skips import postgresql_programs


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def owner() -> dict:
    """Return who runs the server: PostgreSQL refuses to run as root."""
    if os.getuid():
        return {}
    import pwd

    names = {entry.pw_name for entry in pwd.getpwall()}
    entry = pwd.getpwnam("postgres" if "postgres" in names else "nobody")
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


@contextmanager
def postgresql():
    """Yield the URL of a server, without the name of a database."""
    folder = postgresql_programs()
    who = owner()
    with tempfile.TemporaryDirectory() as place:
        data = Path(place) / "data"
        data.mkdir(mode=0o700)
        Path(place).chmod(0o755)
        if who:
            os.chown(data, who["user"], who["group"])
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": "/", **who}
        init = [folder / "initdb", "-D", data, "-U", "tests", "-A", "trust", "--no-sync"]
        subprocess.run([*init, "-E", "UTF8", "--locale=C"], check=True, **quiet)
        port = free_port()
        options = f"-F -p {port} -h 127.0.0.1 -k '' -c shared_buffers=16MB -c max_connections=100"
        control = [folder / "pg_ctl", "-D", data, "-w"]
        subprocess.run([*control, "-o", options, "start"], check=True, **quiet)
        try:
            yield f"postgresql://tests@127.0.0.1:{port}"
        finally:
            subprocess.run([*control, "-m", "immediate", "stop"], check=False, **quiet)
