"""Other environments: lowest versions, other Pythons, and packages to compare with.

``python tools/environments.py lowest`` installs the lowest version of every package that
pyproject.toml allows, and runs ``tests/integration/test_main_paths.py`` and the demo with them.
``python tools/environments.py pythons`` does the same with the newest packages, for every newer
Python that is found. ``python tools/environments.py peers`` installs PECOS and napkinXC for the
benchmarks, and says which of them cannot be installed. Each environment has a folder of its own and
is made again only after a change of pyproject.toml, or of the packages below.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from time import perf_counter

ROOT = Path(__file__).resolve().parents[1]
TESTS = "tests/integration/test_main_paths.py"
PYTHONS = ("3.12", "3.13", "3.14")
PEERS = ("libpecos==1.2.8", "napkinxc==0.7.2")
# Their other requirements serve models that are not compared with, and would be gigabytes.
NEEDED_BY_PEERS = ("numpy<2", "scipy<1.14", "scikit-learn")
NEWEST_FOR_PEERS = (3, 12)


def main(which: str) -> int:
    """Make the environments of a kind and run the tests there; return the number of failures."""
    if which == "peers":
        return make_peers(ROOT / ".venv-peers")
    if which == "lowest":
        return run_tests(ROOT / ".venv-lowest", sys.executable, "lowest-direct")
    failures = 0
    for version in PYTHONS:
        found = interpreter(version)
        if found is None:
            print(f"Python {version}: no interpreter found, not tested.")
        else:
            failures += run_tests(ROOT / f".venv-{version}", found, "highest")
    return failures


def run_tests(folder: Path, python: str, resolution: str) -> int:
    """Make an environment if it is not up to date, and run the tests in it."""
    start = perf_counter()
    make_environment(folder, python, resolution)
    inside = folder / ("Scripts" if os.name == "nt" else "bin")
    # numba keeps the code of one version of itself per folder.
    variables = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "numba")}
    # Old packages use what newer ones deprecate.
    options = ["-q", "-W", "ignore::DeprecationWarning"]
    commands = [
        [inside / "python", "-m", "pytest", *options, TESTS],
        [inside / "taxonomist", "demo"],
    ]
    failed = any(
        subprocess.run(command, cwd=ROOT, env=variables, check=False).returncode
        for command in commands
    )
    state = "failed" if failed else "passed"
    print(f"{folder.name}: {state} after {perf_counter() - start:.0f} s.", flush=True)
    return int(failed)


def make_environment(folder: Path, python: str, resolution: str) -> None:
    """Install the package and its tools into a folder, unless nothing has changed."""
    project = (ROOT / "pyproject.toml").read_bytes()
    digest = hashlib.sha256(project + f"{python} {resolution}".encode()).hexdigest()
    stamp = folder / "environment.sha256"
    if stamp.is_file() and stamp.read_text(encoding="ascii") == digest:
        return
    print(f"Installing into {folder.name}: {resolution} versions ...", flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    uv = [sys.executable, "-m", "uv", "--quiet"]
    subprocess.run([*uv, "venv", "--python", python, folder], check=True, cwd=ROOT)
    packages = ["--resolution", resolution, "--editable", ".[dev]"]
    subprocess.run([*uv, "pip", "install", "--python", folder, *packages], check=True, cwd=ROOT)
    stamp.write_text(digest, encoding="ascii")


def make_peers(folder: Path) -> int:
    """Install the packages to compare with, each for itself; return 0 even if one is left out."""
    is_old_enough = sys.version_info[:2] <= NEWEST_FOR_PEERS
    python = sys.executable if is_old_enough else interpreter("3.12") or interpreter("3.11")
    if python is None:
        print(f"{', '.join(PEERS)}: not installed, they need Python 3.11 or 3.12.", flush=True)
        return 0
    described = " ".join([python, *NEEDED_BY_PEERS, *PEERS])
    digest = hashlib.sha256(described.encode()).hexdigest()
    stamp = folder / "environment.sha256"
    if stamp.is_file() and stamp.read_text(encoding="ascii") == digest:
        return 0
    print(f"Installing into {folder.name}: {', '.join(PEERS)} ...", flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    uv = [sys.executable, "-m", "uv", "--quiet"]
    install = [*uv, "pip", "install", "--python", folder]
    subprocess.run([*uv, "venv", "--python", python, folder], check=True, cwd=ROOT)
    failures = [install_or_say([*install, *NEEDED_BY_PEERS], "what they need")]
    failures += [install_or_say([*install, "--no-deps", peer], peer) for peer in PEERS]
    if not any(failures):
        stamp.write_text(digest, encoding="ascii")
    return 0


def install_or_say(command: list[str | Path], what: str) -> bool:
    """Run a command that installs something; return whether it failed, and say so."""
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
    if done.returncode:
        print(f"{what} could not be installed; the benchmarks go on without it.", flush=True)
        print(done.stderr.strip(), flush=True)
    return done.returncode != 0


def interpreter(version: str) -> str | None:
    """Return the path of a Python that runs, or None."""
    installed = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"), reverse=True)
    for candidate in [shutil.which(f"python{version}"), *map(str, installed)]:
        # The commands of a version manager exist for versions that are not chosen, and fail.
        if candidate and subprocess.run([candidate, "-V"], capture_output=True).returncode == 0:
            return candidate
    return None


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in ("lowest", "pythons", "peers"):
        sys.exit("usage: python tools/environments.py lowest | pythons | peers")
    sys.exit(main(sys.argv[1]))
