"""Claims that results decide, by paired tests or intervals.

``better`` compares models, item by item or fold by fold; ``agreement`` claims that values are alike
or beyond chance, ``bounds`` that they lie in a range; ``comparisons``, ``gains`` and
``relative_gains`` compare differences.
"""

from __future__ import annotations

from taxonomist.experiments.claims.better import Better, LargerGain, LargerGains, Ratio

__all__ = ["Better", "LargerGain", "LargerGains", "Ratio"]
