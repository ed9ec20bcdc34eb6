"""Measures of the service for Prometheus."""

from __future__ import annotations

import os

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
)
from prometheus_client.multiprocess import MultiProcessCollector

__all__ = ["FOLDER_VARIABLE", "Monitor"]

FOLDER_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
"""Environment variable with the folder through which processes share their measures."""
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
METHODS = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE")
BATCH_SIZES = (1, 2, 4, 8, 16, 32, 64)


class Monitor:
    """Counts requests, their times, batches and decisions."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "taxonomist_requests",
            "Requests by method, route and status.",
            ("method", "route", "status"),
            registry=self._registry,
        )
        self._seconds = Histogram(
            "taxonomist_request_seconds",
            "Seconds from the start of a request to the end of its answer.",
            ("route",),
            buckets=SECONDS,
            registry=self._registry,
        )
        self._batches = Histogram(
            "taxonomist_batch_size",
            "Texts that were scored together.",
            buckets=BATCH_SIZES,
            registry=self._registry,
        )
        self._running = Gauge(
            "taxonomist_requests_running",
            "Requests that are being answered.",
            registry=self._registry,
            multiprocess_mode="livesum",
        )
        self._decisions = Counter(
            "taxonomist_decisions",
            "Decisions by project and action.",
            ("project", "action"),
            registry=self._registry,
        )

    def begin(self) -> None:
        """Count a request that begins."""
        self._running.inc()

    def end(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request that ended."""
        self._running.dec()
        self._requests.labels(method if method in METHODS else "other", route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def batch(self, size: int) -> None:
        """Count a batch."""
        self._batches.observe(size)

    def decision(self, project: str, action: str) -> None:
        """Count a decision."""
        self._decisions.labels(project, action).inc()

    def text(self) -> tuple[bytes, str]:
        """Return all measures, those of other processes included, and their media type."""
        if FOLDER_VARIABLE in os.environ:
            shared = CollectorRegistry()
            MultiProcessCollector(shared)  # type: ignore[no-untyped-call]
            return generate_latest(shared), CONTENT_TYPE_LATEST
        return generate_latest(self._registry), CONTENT_TYPE_LATEST
