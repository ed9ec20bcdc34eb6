"""Kernels between items."""

from __future__ import annotations

from taxonomist.kernels.gapped import GappedKernel
from taxonomist.kernels.pairwise import KERNELS, PairwiseKernel, resolve_gamma

__all__ = ["KERNELS", "GappedKernel", "PairwiseKernel", "resolve_gamma"]
