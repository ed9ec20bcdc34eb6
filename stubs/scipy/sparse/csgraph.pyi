"""Graph routines of ``scipy.sparse``."""

from typing import Any

from numpy.typing import NDArray

def connected_components(
    csgraph: Any, directed: bool = True, connection: str = "weak", return_labels: bool = True
) -> tuple[int, NDArray[Any]]: ...
