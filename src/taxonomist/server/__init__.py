"""A service for models, decisions and corrections: what ``taxonomist serve`` runs.

``application`` makes the app, ``running`` runs it. Routes are in ``routes``, one file per noun.
What they share is beside them: ``projects`` holds the live models, ``batching`` joins concurrent
requests, ``middleware`` guards all routes, ``retraining`` learns from decisions in a process of its
own. ``static`` is the screen, the page for people, whose scripts ask the routes. ``store`` keeps
documents, decisions, versions and tokens in SQLite or PostgreSQL.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from taxonomist._lazy import lazy_names

if TYPE_CHECKING:
    from taxonomist.server.application import make_app
    from taxonomist.server.settings import ServiceLimits, ServiceSettings

__all__ = ["ServiceLimits", "ServiceSettings", "make_app"]

__getattr__ = lazy_names(
    __name__,
    {"ServiceLimits": "settings", "ServiceSettings": "settings", "make_app": "application"},
)
