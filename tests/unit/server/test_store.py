"""The store, on SQLite and on PostgreSQL."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import MetaData, func, select, update
from sqlalchemy.exc import OperationalError

from taxonomist.errors import ParameterError
from taxonomist.server.store import EventStore
from taxonomist.server.store.decisions import (
    ConflictError,
    NewDecision,
    add_decision,
    find_event,
    list_events,
    undo_decision,
)
from taxonomist.server.store.documents import (
    NewDocument,
    Offer,
    add_documents,
    add_offers,
    find_document,
    list_documents,
    stale_documents,
)
from taxonomist.server.store.jobs import add_job, end_job, find_job, list_jobs, tell_job
from taxonomist.server.store.leases import hold_documents
from taxonomist.server.store.outcomes import last_event, standing_decisions
from taxonomist.server.store.schema import events, jobs, leases, metadata, tokens
from taxonomist.server.store.tokens import (
    Role,
    add_token,
    any_tokens,
    find_token,
    list_tokens,
    revoke_token,
)
from taxonomist.server.store.versions import (
    add_project,
    add_version,
    list_releases,
    list_versions,
    live_version,
    release,
)
from taxonomist.server.store.waiting import branch_totals, waiting, waiting_by_date

OFFER = Offer("v1", ["cat"], [("cat", 0.9), ("dog", 0.1)], 0.3, "animal")


@pytest.fixture
def documents(store):
    """Add a project with three documents, and return their numbers by key."""
    new = [NewDocument(key, {"text": f"text {key}"}, key * 16, key == "c") for key in "abc"]
    with store.writing() as connection:
        add_project(connection, "p")
        add_project(connection, "p")
        numbers = add_documents(connection, "p", new, "ann")
        add_offers(connection, [(number, OFFER) for number in numbers.values()])
    return numbers


def decide(store, number, action="correct", chosen=("dog",), **fields):
    expected = fields.pop("expected", None)
    new = NewDecision(number, action, list(chosen), ["cat"], "v1", "ann", **fields)
    with store.writing() as connection:
        return add_decision(connection, "p", new, expected)


def undo(store, event):
    with store.writing() as connection:
        return undo_decision(connection, "p", event, "bob")


def state(store, key):
    with store.reading() as connection:
        found = find_document(connection, "p", key)
    return found.action, found.chosen


def test_migrations_make_the_tables_of_the_schema(store):
    with store.reading() as connection:
        context = MigrationContext.configure(connection)
        assert compare_metadata(context, metadata) == []
    store.migrate()  # nothing left to do


def rows_of_the_first_version():
    """Return rows of tables as the first version of the schema had them."""
    at = datetime(2025, 1, 2, tzinfo=UTC)
    who = {"project": "p", "user": "ann"}
    return {
        "projects": {"id": "p", "added_at": at},
        "documents": {
            "project": "p",
            "key": "a",
            "texts": {"text": "text a"},
            "digest": "0" * 16,
            "is_random": True,
            "added_at": at,
            "added_by": "ann",
        },
        "events": {
            **who,
            "document": 1,
            "action": "correct",
            "chosen": ["dog"],
            "offered": ["cat"],
            "version": "v1",
            "at": at,
        },
        "jobs": {
            "id": "j",
            **who,
            "state": "live",
            "step": "Saving",
            "done": 4,
            "total": 4,
            "started_at": at,
            "seen_at": at,
            "ended_at": at,
            "result": {"version": "v2"},
        },
    }


def test_tables_of_the_first_version_are_upgraded_with_their_rows(db, monkeypatch):
    upgrade = command.upgrade
    monkeypatch.setattr(command, "upgrade", lambda config, _: upgrade(config, "0001"))
    with closing(EventStore(db)) as store:
        store.migrate()
        monkeypatch.undo()
        with store.writing() as connection:
            first = MetaData()
            first.reflect(connection)
            assert "doubts" not in first.tables
            for name, row in rows_of_the_first_version().items():
                connection.execute(first.tables[name].insert().values(row))
        store.migrate()
        assert state(store, "a") == ("correct", ["dog"])
        with store.reading() as connection:
            context = MigrationContext.configure(connection)
            assert compare_metadata(context, metadata) == []
            (event,) = list_events(connection, "p")
            (job,) = list_jobs(connection, "p")
        assert (event.user, event.at) == ("ann", datetime(2025, 1, 2, tzinfo=UTC))
        assert (job.kind, job.state, job.result) == ("train", "live", {"version": "v2"})
        assert decide(store, 1, "accept", ["cat"]) == 2


def test_documents_are_added_once(store, documents):
    again = [NewDocument("a", {"text": "other"}, "x" * 16, True)]
    with store.writing() as connection:
        assert add_documents(connection, "p", again, "bob") == {"a": documents["a"]}
        found = find_document(connection, "p", "a")
        assert find_document(connection, "p", "z") is None
        assert find_document(connection, "other", "a") is None
    assert found.texts == {"text": "text a"}
    assert (found.added_by, found.offer, found.action) == ("ann", OFFER, None)
    assert abs(datetime.now(UTC) - found.added_at) < timedelta(minutes=5)


def test_documents_are_listed_by_page(store, documents):
    with store.reading() as connection:
        first = list_documents(connection, "p", 0, 2)
        rest = list_documents(connection, "p", first[-1].id, 2)
    assert [document.key for document in [*first, *rest]] == ["a", "b", "c"]


def test_the_newest_decision_stands(store, documents):
    assert state(store, "a") == (None, [])
    decide(store, documents["a"])
    decide(store, documents["a"], "accept", ["cat"])
    decide(store, documents["b"], "skip", [])
    assert state(store, "a") == ("accept", ["cat"])
    assert state(store, "b") == ("skip", [])
    assert state(store, "c") == (None, [])


def test_undo_is_an_event_and_what_stood_before_stands_again(store, documents):
    first = decide(store, documents["a"])
    second = decide(store, documents["a"], "accept", ["cat"])
    undo(store, second)
    assert state(store, "a") == ("correct", ["dog"])
    undo(store, first)
    assert state(store, "a") == (None, [])
    with store.reading() as connection:
        found = list_events(connection, "p")
        assert [event.action for event in found] == ["correct", "accept", "undo", "undo"]
        assert [event.undoes for event in found] == [None, None, second, first]
        assert find_event(connection, "p", first) == found[0]
        assert find_event(connection, "p", 10**6) is None
        assert last_event(connection, "p") == found[-1].id


def test_an_event_is_undone_once(store, documents):
    event = decide(store, documents["a"])
    number = undo(store, event)
    with pytest.raises(ConflictError):
        undo(store, event)
    with pytest.raises(ConflictError):
        undo(store, number)
    with pytest.raises(LookupError):
        undo(store, 10**6)


def test_a_decision_with_a_known_key_is_not_added_again(store, documents):
    first = decide(store, documents["a"], key="k")
    assert decide(store, documents["a"], key="k") == first
    with pytest.raises(ConflictError):
        decide(store, documents["b"], key="k")


def test_a_decision_expects_what_stood(store, documents):
    first = decide(store, documents["a"], expected=0)
    with pytest.raises(ConflictError):
        decide(store, documents["a"], expected=0)
    decide(store, documents["a"], expected=first)


def test_two_writers_at_once_lose_nothing(store, documents):
    def write(i):
        return decide(store, documents["abc"[i % 3]], key=f"k{i}")

    with ThreadPoolExecutor(8) as pool:
        numbers = list(pool.map(write, range(60)))
    assert len(set(numbers)) == 60
    with store.reading() as connection:
        assert connection.execute(select(func.count()).select_from(events)).scalar() == 60


def test_of_two_who_expect_the_same_one_wins(store, documents):
    def write(_):
        try:
            return decide(store, documents["a"], expected=0)
        except ConflictError:
            return None

    with ThreadPoolExecutor(6) as pool:
        assert sum(number is not None for number in pool.map(write, range(12))) == 1


def steps_of(store, work):
    """Return how many thousand steps SQLite takes for a query."""
    steps = []
    with store.reading() as connection:
        own = connection.connection.dbapi_connection
        own.set_progress_handler(lambda: steps.append(1), 1000)
        work(connection)
        own.set_progress_handler(None, 0)
    return len(steps)


@pytest.mark.parametrize(
    "work",
    [
        lambda connection: list_documents(connection, "p", 0, 50),
        lambda connection: branch_totals(connection, "p", None),
        lambda connection: waiting(connection, "p", 20, None, None),
        lambda connection: list(standing_decisions(connection, "p")),
        lambda connection: stale_documents(connection, "p", "v2", 10),
    ],
)
def test_twice_as_many_decisions_take_about_twice_as_long(work, tmp_path):
    found = []
    for n in (400, 800):
        with closing(EventStore(f"sqlite:///{tmp_path / str(n)}")) as store:
            store.migrate()
            texts = [NewDocument(f"d{k}", {"text": "x"}, "0", False) for k in range(n)]
            with store.writing() as connection:
                add_project(connection, "p")
                numbers = list(add_documents(connection, "p", texts, "ann").values())
                add_offers(connection, [(number, OFFER) for number in numbers])
                for number in numbers[: n // 2]:
                    new = NewDecision(number, "correct", ["dog"], ["cat"], "v1", "ann")
                    add_decision(connection, "p", new)
            found.append(steps_of(store, work))
    assert found[1] <= 3 * found[0] + 5


def test_a_writer_does_not_wait_for_ever(store, db, documents, monkeypatch):
    monkeypatch.setattr("taxonomist.server.store.engine.WAIT_SECONDS", 1)
    with closing(EventStore(db)) as other, store.writing() as connection:
        new = NewDecision(documents["a"], "skip", [], [], None, "ann")
        add_decision(connection, "p", new)
        with pytest.raises(OperationalError):
            decide(other, documents["a"])
    assert state(store, "a")[0] == "skip"


def test_waiting_documents(store, documents):
    other = OFFER._replace(version="v2", risk=0.9, branch="plant")
    with store.writing() as connection:
        add_offers(connection, [(documents["b"], other), (documents["b"], other)])
    decide(store, documents["a"], "skip", [])
    with store.reading() as connection:
        found = waiting(connection, "p", 10)
        totals = branch_totals(connection, "p")
        stale = stale_documents(connection, "p", "v2", 10)
        assert waiting(connection, "p", 10, "nowhere") == []
    numbers = {value: key for key, value in documents.items()}
    assert {numbers[each.number]: (each.branch, each.is_skipped) for each in found} == {
        "a": ("animal", True),
        "b": ("plant", False),
        "c": ("animal", False),
    }
    assert {total.branch: total.n_documents for total in totals} == {"animal": 2, "plant": 1}
    assert {numbers[number] for number, _ in stale} == {"a", "c"}
    decide(store, documents["b"])
    with store.reading() as connection:
        assert len(waiting(connection, "p", 10)) == 2


def hold(store, keys, holder):
    with store.writing() as connection:
        found = hold_documents(connection, "p", keys, holder, holder.upper())
    return [(lease.document_key, lease.user) for lease in found]


def free(store, holder):
    with store.reading() as connection:
        by_loss = {each.number for each in waiting(connection, "p", 10, None, holder)}
        by_date = {each.id for each in waiting_by_date(connection, "p", None, holder)}
    assert by_loss == by_date
    return by_loss


def test_leases(store, documents):
    assert hold(store, ["a", "b"], "ann") == []
    assert hold(store, ["c", "b"], "bob") == [("b", "ANN")]
    assert free(store, None) == set(documents.values())
    assert free(store, "ann") == {documents["a"], documents["b"]}
    assert free(store, "bob") == {documents["c"]}
    assert free(store, "other") == set()
    # What is not asked for again is given back, and so is what nobody renews.
    assert hold(store, ["a"], "ann") == []
    assert hold(store, ["b"], "bob") == []
    with store.writing() as connection:
        connection.execute(update(leases).values(until=datetime.now(UTC)))
    assert free(store, "other") == set(documents.values())
    assert hold(store, ["a", "b"], "cid") == []
    with pytest.raises(LookupError):
        hold(store, ["a", "z"], "cid")
    hold(store, [], "cid")
    assert free(store, "bob") == set(documents.values())


def test_of_many_who_want_a_document_one_gets_it(store, documents):
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda i: hold(store, ["b", "a"], f"h{i}"), range(12)))
    assert sorted(map(len, found)) == [0] + [2] * 11


def test_standing_decisions(store, documents):
    decide(store, documents["a"])
    decide(store, documents["b"], "too_vague", [])
    decide(store, documents["c"], "accept", ["cat"])
    with store.reading() as connection:
        found = {each.key: each for each in standing_decisions(connection, "p")}
        everything = list(standing_decisions(connection, "p", labelled=False))
    assert set(found) == {"a", "c"}
    assert (found["a"].chosen, found["a"].offered, found["a"].user) == (["dog"], ["cat"], "ann")
    assert found["c"].is_random
    assert len(everything) == 3


def test_versions_and_what_is_live(store, documents):
    with store.writing() as connection:
        assert live_version(connection, "p") is None
        assert add_version(connection, "p", "v1", "/one", "given", {"a": 1})
        assert not add_version(connection, "p", "v1", "/other", "given", {})
        assert add_version(connection, "p", "v2", "/two", "retrained", {})
        for version in ("v1", "v2", "v1"):
            release(connection, "p", version, "ann", "why")
            assert live_version(connection, "p") == version
        assert [each.version for each in list_versions(connection, "p")] == ["v1", "v2"]
        assert list_versions(connection, "p")[0].folder == "/one"
        assert [each.version for each in list_releases(connection, "p")] == ["v1", "v2", "v1"]


def test_jobs(store, documents):
    with store.writing() as connection:
        job = add_job(connection, "p", "ann")
        with pytest.raises(ConflictError):
            add_job(connection, "p", "bob")
        tell_job(connection, job, "Training", 1, 4)
        found = find_job(connection, "p", job)
        assert (found.state, found.step, found.done, found.total) == ("running", "Training", 1, 4)
        assert end_job(connection, job, "live", {"version": "v2"})
        assert not end_job(connection, job, "failed", {})
        assert find_job(connection, "p", job).result == {"version": "v2"}
        assert find_job(connection, "p", "none") is None
        add_job(connection, "p", "bob")


@pytest.mark.parametrize("hours", [1, -1], ids=["long-ago", "clock-set-back"])
def test_a_job_of_a_machine_that_died_is_lost(store, documents, hours):
    with store.writing() as connection:
        job = add_job(connection, "p", "ann")
        connection.execute(update(jobs).values(seen_at=datetime.now(UTC) - timedelta(hours=hours)))
        assert [each.state for each in list_jobs(connection, "p")] == ["lost"]
        add_job(connection, "p", "bob")
        assert find_job(connection, "p", job).state == "lost"


def test_tokens_are_kept_as_hashes(store):
    with store.writing() as connection:
        assert not any_tokens(connection)
        secret = add_token(connection, "ann", Role.decide)
        kept = connection.execute(select(tokens)).mappings().one()
        assert secret not in str(dict(kept))
        found = find_token(connection, secret)
        assert (found.name, found.role) == ("ann", Role.decide)
        assert find_token(connection, secret + "x") is None
        assert any_tokens(connection)
        assert revoke_token(connection, found.id)
        assert not revoke_token(connection, found.id)
        assert find_token(connection, secret) is None
        assert not any_tokens(connection)
        assert [token.revoked_at is None for token in list_tokens(connection)] == [False]


@pytest.mark.parametrize("name", ["", "a\nb", "x" * 201])
def test_names_of_tokens_are_checked(store, name):
    with store.writing() as connection, pytest.raises(ParameterError):
        add_token(connection, name, Role.read)


@pytest.mark.parametrize("url", ["mysql://x", "nonsense", "sqlite://", "sqlite:///:memory:"])
def test_other_databases_are_refused(url):
    with pytest.raises(ParameterError):
        EventStore(url)


def test_what_is_written_is_on_disk_before_it_is_acknowledged(tmp_path):
    store = EventStore(f"sqlite:///{tmp_path / 'x.db'}")
    store.migrate()
    with store.engine.connect() as connection:
        asked = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys")
        }
    store.close()
    assert asked == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1}
