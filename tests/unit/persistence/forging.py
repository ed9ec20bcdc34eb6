"""Forged model folders: descriptions and arrays are changed at random, checksums are right."""

from __future__ import annotations

import hashlib
import json
import os
import select
import shutil
import signal
import time
import traceback
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np

from taxonomist import persistence
from taxonomist.errors import TaxonomistError

STORED = Path(__file__).parent / "stored"
SECONDS = 20
"""How long reading a forged folder and one question may take."""

HUGE = {"$": "array", "dtype": "<U500000000", "shape": [1], "values": ["x"]}
VALUES = (
    *(None, True, False, -1, 0, 1, 3, 10**9, 10**12, 2**63, -(10**9), 0.5, -1e308, 1e308),
    *("", "x", "linear", [], [0], [[1, 2], 3], {}, {"$": "range", "items": [0, 10**9, 1]}),
    *({"$": "float", "value": text} for text in ("nan", "inf", "-inf", "x")),
    {"$": "tuple", "items": [1, 2]},
    {"$": "dict", "items": {"a": 1}},
    {"$": "array", "dtype": "<f8", "shape": [2], "values": [0.5, -1.0]},
    {"$": "array", "dtype": "<i8", "shape": [3], "values": [-1, 0, 10**12]},
    {"$": "array", "dtype": "<f4", "shape": [10**12], "part": "small-0-float32.npy", "start": 0},
    {"$": "again", "id": 0},
    HUGE,
)
"""What values of descriptions become."""

CLASSES = ("Taxonomy", "LinearScorer", "FeatureMap", "Pass", "LinearSVC", "Targets", "TopK")
NUMBERS = (-1, 0, 1, 2, 127, 10**6, 2**31 - 1, -(2**31), np.nan, np.inf, -np.inf, 1e30)


class Verdict(NamedTuple):
    """What reading a forged folder, and asking the model, led to.

    ``mebibytes`` is what the process of several folders took beyond what it began with.
    """

    kind: str
    text: str
    mebibytes: float
    seconds: float


def folders():
    """Return the stored models, each with the items that it can be asked about."""
    found = []
    for path in sorted(STORED.glob("version-*/*/manifest.json")):
        then = json.loads((path.parents[1] / "expected.json").read_text())[path.parent.name]
        found.append((path.parent, then.get("texts") or np.array(then["items"])))
    return found


def forge(source, target, rng):
    """Copy a model and change it; return what was changed."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target)
    (inside,) = target.glob("parts-*")
    changes = (_change_state, _change_state, _change_state, _change_part, _change_head)
    told = [changes[rng.integers(len(changes))](inside, rng) for _ in range(rng.integers(1, 3))]
    seal(target)
    return "; ".join(told)


def seal(folder):
    """Give a folder the right sizes and checksums."""
    path = folder / "manifest.json"
    head = json.loads(path.read_text(encoding="utf-8"))
    for entry in head["parts"] if isinstance(head.get("parts"), list) else []:
        if isinstance(entry, dict) and isinstance(entry.get("name"), str):
            part = next(folder.glob("parts-*")) / entry["name"]
            if part.is_file():
                data = part.read_bytes()
                entry.update(bytes=len(data), sha256=hashlib.sha256(data).hexdigest())
    head["sha256"] = "0" * 64
    blank = json.dumps(head, indent=1).encode()
    path.write_bytes(blank.replace(b"0" * 64, hashlib.sha256(blank).hexdigest().encode(), 1))


def _places(value, found):
    """Collect the containers and keys of a tree of JSON values."""
    entries = value.items() if isinstance(value, dict) else enumerate(value)
    for key, entry in entries:
        found.append((value, key))
        if isinstance(entry, (dict, list)):
            _places(entry, found)
    return found


def _change_state(inside, rng):
    path = inside / "model.json"
    state = json.loads(path.read_text(encoding="utf-8"))
    told = _change_tree(state, rng)
    path.write_text(json.dumps(state), encoding="utf-8")
    return told


def _change_head(inside, rng):
    path = inside.parent / "manifest.json"
    head = json.loads(path.read_text(encoding="utf-8"))
    told = _change_tree(head, rng)
    path.write_text(json.dumps(head), encoding="utf-8")
    return f"manifest {told}"


def _change_tree(tree, rng):
    places = _places(tree, [])
    if not places:
        return "nothing"
    holder, key = places[rng.integers(len(places))]
    old, way = holder[key], rng.integers(5)
    if way == 0:
        del holder[key]
        return f"del {key}: {str(old)[:60]}"
    if way == 1 and places:
        other, name = places[rng.integers(len(places))]
        holder[key], other[name] = json.loads(json.dumps([other[name], old]))
        return f"swap {key} and {name}"
    if way == 2 and isinstance(old, dict) and "class" in old:
        old["class"] = CLASSES[rng.integers(len(CLASSES))]
        return f"class of {key}: {old['class']}"
    if way == 3 and isinstance(old, int):
        holder[key] = old + int(rng.integers(-2, 3))
        return f"{key}: {old} becomes {holder[key]}"
    holder[key] = json.loads(json.dumps(VALUES[rng.integers(len(VALUES))]))
    return f"{key}: {str(old)[:60]} becomes {str(holder[key])[:60]}"


def _change_part(inside, rng):
    arrays = sorted(inside.glob("*.npy"))
    if not arrays:
        return _change_state(inside, rng)
    path = arrays[rng.integers(len(arrays))]
    try:
        array = np.load(path)
    except ValueError:
        return f"nothing, because {path.name} is damaged"
    way = rng.integers(4)
    if way == 0 or not array.size or array.dtype.kind not in "iuf":
        data = bytearray(path.read_bytes())
        for at in rng.integers(len(data), size=3).tolist():
            data[at] = int(rng.integers(256))
        path.write_bytes(bytes(data))
        return f"bytes of {path.name}"
    flat = array.reshape(-1)
    at = rng.integers(flat.size, size=min(flat.size, int(rng.integers(1, 8))))
    number = NUMBERS[rng.integers(len(NUMBERS))]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        flat[at] = np.array(number).astype(array.dtype)
    np.save(path, array)
    return f"{number} at {at.tolist()} of {path.name}"


def ask(folder, items):
    """Read a folder and ask the model; return a kind and a text."""
    try:
        model = persistence.load(folder)
    except TaxonomistError as error:
        return "refused", str(error)
    try:
        for question in ("predict", "predict_labels", "decision_function", "predict_proba"):
            if hasattr(model, question):
                getattr(model, question)(items)
        persistence.describe(folder)
    except TaxonomistError as error:
        return "damaged", str(error)
    return "answered", ""


def verdict_of(folder, items):
    """Return the verdict on a folder."""
    (found,) = verdicts_of([(folder, items)])
    return found


def verdicts_of(jobs):
    """Return the verdicts on folders with items, which another process reads one by one.

    After a crash or a hang, a new process goes on with the next folder.
    """
    found = []
    while len(found) < len(jobs):
        found += _verdicts_until_death(jobs[len(found) :])
    return found


def _verdicts_until_death(jobs):
    reading, writing = os.pipe()
    before = _resident()
    pid = os.fork()
    if pid == 0:
        for job in jobs:
            _answer(*job, writing)
        os._exit(0)
    os.close(writing)
    said, found, start = b"", [], time.perf_counter()
    while len(found) < len(jobs):
        is_ready, _, _ = select.select([reading], [], [], SECONDS)
        data = os.read(reading, 65536) if is_ready else b""
        if not data:
            break
        *lines, said = (said + data).split(b"\n")
        for line in lines:
            kind, text = json.loads(line)
            found.append((kind, text, time.perf_counter() - start))
            start = time.perf_counter()
    if len(found) < len(jobs):
        kind = "crash" if is_ready else "hang"
        found.append((kind, "", time.perf_counter() - start))
        os.kill(pid, signal.SIGKILL)
    os.close(reading)
    _, _, used = os.wait4(pid, 0)
    mebibytes = used.ru_maxrss / 1024 - before
    return [Verdict(kind, text, mebibytes, seconds) for kind, text, seconds in found]


def _resident():
    """Return the mebibytes that this process takes, if the system tells."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def _answer(folder, items, writing):
    """Write what asking led to on a line."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            kind, text = ask(folder, items)
        except BaseException:  # noqa: BLE001
            kind, text = "raw", traceback.format_exc()
    os.write(writing, json.dumps([kind, text[-1500:]]).encode() + b"\n")
