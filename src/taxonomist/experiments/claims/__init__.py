"""Claims that results decide, by paired tests or intervals.

``better`` compares models, item by item or fold by fold; ``agreement`` claims that values are alike
or beyond chance; ``comparisons``, ``gains`` and ``relative_gains`` compare differences.
"""

from __future__ import annotations

from taxonomist.experiments.claims.better import Better, LargerGain, Ratio

__all__ = ["Better", "LargerGain", "Ratio"]
