"""What the service must not lose: documents, offers, decisions, versions, jobs and tokens.

Tables are in ``schema``, and ``migrations`` creates them. ``engine`` opens a database. The other
files hold the queries about one noun each; they take a connection, so that callers decide what
belongs to one transaction. Decisions are events: rows are added, never changed or deleted.
"""

from __future__ import annotations

from taxonomist.server.store.engine import EventStore

__all__ = ["EventStore"]
