"""Kernels between items."""

from __future__ import annotations

from taxonomist.kernels.pairwise import KERNELS, PairwiseKernel, resolve_gamma

__all__ = ["KERNELS", "PairwiseKernel", "resolve_gamma"]
