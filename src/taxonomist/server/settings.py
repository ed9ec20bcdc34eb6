"""Settings of the service."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

__all__ = ["ANNIF_BATCH", "LOCAL_HOSTS", "ServiceLimits", "ServiceSettings"]

ANNIF_BATCH = 32
"""Documents in a request to ``suggest-batch``: Annif's limit."""
LOCAL_HOSTS = ("127.0.0.1", "localhost", "::1")
"""Addresses that only this machine can reach."""


@dataclass(frozen=True)
class ServiceLimits:
    """Limits of the service; each one ends in an error with a status of its own.

    Attributes
    ----------
    body_bytes
        Bytes in the body of a request (413).
    text_chars
        Characters in a text (400).
    batch
        Documents in a request to a route of ours (400).
    waiting
        Single requests that wait for their turn in each process (503 with ``Retry-After``).
    seconds
        Seconds for a request (503).
    rate
        Requests per second and token, or per address without tokens (429 with ``Retry-After``); 0
        for no limit. A suggestion takes about a millisecond of a core, so that one caller cannot
        take more than half a core.
    burst
        Requests above the rate that are accepted at once.
    """

    body_bytes: int = 8 * 2**20
    text_chars: int = 500_000
    batch: int = 100
    waiting: int = 2_000
    seconds: float = 30.0
    rate: float = 500.0
    burst: int = 1_000


@dataclass(frozen=True)
class ServiceSettings:
    """Settings of the service.

    Attributes
    ----------
    models
        Folders of models by project.
    tables
        Training tables by project, which ``retrain`` reads.
    synonyms
        Tables with more names of nodes by project, for search.
    folder
        Folder for the database and for retrained models.
    db
        URL of the database; empty for a SQLite file in ``folder``.
    language
        Language of the texts and of the categories' names.
    is_public
        Whether the routes that only read need no token.
    user_header
        Header with the user's name, set by a proxy in ``proxies``; empty for none.
    proxies
        Addresses of the proxies whose ``user_header`` is believed.
    origins
        Origins that may call the service from browsers; empty switches CORS off.
    hosts
        Names that requests may use for this server; empty for any.
    label_studio
        Project that Label Studio's routes serve; empty for none.
    random_share
        Fraction of documents that are marked at random to measure quality.
    weight
        Weight of a decision in training; a row of the training table has 1.
    memory_mib
        Memory for a training, in MiB; 0 for half of the machine's.
    log_texts
        Whether to write texts to the log.
    processes
        Number of processes.
    has_samples
        Whether to put documents of the bundled corpus into the queue of the demo.
    parent
        Id of the process that started this one; 0 for none. It ends with its parent.
    needs_token
        Whether every request needs a token even if there is none yet, as it must on addresses that
        others can reach.
    limits
        Limits.
    """

    models: dict[str, str] = field(default_factory=dict)
    tables: dict[str, str] = field(default_factory=dict)
    synonyms: dict[str, str] = field(default_factory=dict)
    folder: str = "taxonomist-server"
    db: str = ""
    language: str = "en"
    is_public: bool = False
    user_header: str = ""
    proxies: tuple[str, ...] = ("127.0.0.1", "::1")
    origins: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    label_studio: str = ""
    random_share: float = 0.1
    weight: float = 1.0
    memory_mib: int = 0
    log_texts: bool = False
    processes: int = 1
    has_samples: bool = False
    parent: int = 0
    needs_token: bool = False
    limits: ServiceLimits = field(default_factory=ServiceLimits)

    @property
    def db_url(self) -> str:
        """The URL of the database."""
        return self.db or f"sqlite:///{Path(self.folder).absolute() / 'decisions.db'}"

    def to_json(self) -> str:
        """Return the settings as JSON, for another process."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> ServiceSettings:
        """Read what ``to_json`` returns."""
        known = json.loads(text)
        for name in ("proxies", "origins", "hosts"):
            known[name] = tuple(known[name])
        known["limits"] = ServiceLimits(**known["limits"])
        return cls(**known)
