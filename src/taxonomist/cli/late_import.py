"""Import modules when they are used, for a fast start."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

__all__ = ["import_scikit_learn", "import_when_used"]


class _LateModule(ModuleType):
    """Stands for a module until something of it is used."""

    def __getattr__(self, name: str) -> Any:
        # The import of a submodule asks for the path.
        if name.startswith("__") and name != "__path__":
            raise AttributeError(name)
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


def import_when_used(name: str) -> None:
    """Let later imports of a module take effect only when something of it is used."""
    spec = find_spec(name)
    if spec is not None and name not in sys.modules:
        sys.modules[name] = _LateModule(name)
        sys.modules[name].__spec__ = spec


def import_scikit_learn() -> None:
    """Import scikit-learn, but not pandas, which it imports if it is installed.

    Afterwards, pandas is not among the imported modules, so that nothing takes it for used.
    """
    if find_spec("pandas") is None or "pandas" in sys.modules:
        return
    import_when_used("pandas")
    late = sys.modules["pandas"]
    import_module("sklearn.base")
    if sys.modules.get("pandas") is late:
        del sys.modules["pandas"]
