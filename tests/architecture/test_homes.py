"""Heavy packages have one home: only a few modules may import them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import taxonomist

PACKAGE = Path(taxonomist.__file__).parent
HOMES = {"onnxruntime": {"features/onnx_encoder.py"}, "tokenizers": {"features/onnx_encoder.py"}}


@pytest.mark.parametrize("name", HOMES)
def test_a_heavy_package_has_one_home(name):
    asked = re.compile(rf"^\s*(?:import|from) {name}\b|import_extra\(\"{name}", re.M)
    found = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if asked.search(path.read_text(encoding="utf-8"))
    }
    assert found == HOMES[name]
