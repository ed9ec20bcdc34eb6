from __future__ import annotations

import hashlib
import socket
from pathlib import Path

import pytest

from taxonomist.datasets.download import MAX_ATTEMPTS, Remote, download
from taxonomist.errors import DownloadError, TaxonomistError
from tests.unit.datasets.web import serving

DATA = bytes(range(256)) * 1000
SHA256 = hashlib.sha256(DATA).hexdigest()


@pytest.fixture
def site():
    with serving({"a.bin": DATA, "short.bin": b"another file"}) as site:
        yield site


def get(site, folder, *, file="a.bin", sha256=SHA256, others=(), report=None):
    remote = Remote("a.bin", (*others, site.url + file), sha256)
    return download(remote, folder, report, pause_s=0.0)


def listed(folder):
    return {path.name: path.stat().st_size for path in folder.iterdir()}


def test_a_file_arrives_whole_and_says_how_far_it_is(site, tmp_path):
    calls = []
    path = get(site, tmp_path, report=lambda *call: calls.append(call))
    assert path == tmp_path / "a.bin"
    assert path.read_bytes() == DATA
    assert listed(tmp_path) == {"a.bin": len(DATA)}
    assert calls[-1] == ("a.bin", len(DATA), len(DATA))
    assert [done for _, done, _ in calls] == sorted(done for _, done, _ in calls)
    assert site.asked == [("/a.bin", None)]
    assert "urllib" not in site.agents[0]


@pytest.mark.parametrize("sha256", [SHA256, SHA256.upper(), None])
def test_a_dropped_connection_is_resumed(site, tmp_path, sha256):
    site.faults = [("drop", 1000)]
    assert get(site, tmp_path, sha256=sha256).read_bytes() == DATA
    assert site.asked == [("/a.bin", None), ("/a.bin", "bytes=1000-")]


def test_progress_is_reported_from_where_it_was_resumed(site, tmp_path):
    (tmp_path / "a.bin.part").write_bytes(DATA[:200_000])
    calls = []
    get(site, tmp_path, report=lambda *call: calls.append(call))
    assert calls[0][1] > 200_000
    assert calls[-1] == ("a.bin", len(DATA), len(DATA))


def test_any_number_of_drops_is_fine_while_something_arrives(site, tmp_path):
    site.faults = [("drop", 10)] * (3 * MAX_ATTEMPTS)
    assert get(site, tmp_path).read_bytes() == DATA
    assert len(site.asked) == 3 * MAX_ATTEMPTS + 1


def test_what_has_arrived_is_kept_for_the_next_call(site, tmp_path):
    site.faults = [("drop", 1000)] + [("drop", 0)] * MAX_ATTEMPTS
    with pytest.raises(DownloadError, match="1,000 of 256,000 bytes.* The 1,000 bytes .* are kept"):
        get(site, tmp_path)
    assert listed(tmp_path) == {"a.bin.part": 1000}
    assert (tmp_path / "a.bin.part").read_bytes() == DATA[:1000]
    site.faults.clear()
    assert get(site, tmp_path).read_bytes() == DATA
    assert site.asked[-1] == ("/a.bin", "bytes=1000-")


def test_a_server_without_ranges_starts_again(site, tmp_path):
    site.faults = [("drop", 1000), "no range"]
    assert get(site, tmp_path).read_bytes() == DATA


def test_a_server_without_lengths(site, tmp_path):
    site.faults = ["no length"]
    calls = []
    assert get(site, tmp_path, report=lambda *call: calls.append(call)).read_bytes() == DATA
    assert calls[-1] == ("a.bin", len(DATA), None)


def test_a_missing_file_is_an_error_at_once(site, tmp_path):
    with pytest.raises(DownloadError, match=f"{site.url}b.bin: the server answered 404 Not Found"):
        get(site, tmp_path, file="b.bin")
    assert len(site.asked) == 1
    assert listed(tmp_path) == {}


def test_a_busy_server_is_asked_again(site, tmp_path):
    site.faults = [503, 429]
    assert get(site, tmp_path).read_bytes() == DATA
    assert len(site.asked) == 3


def test_a_server_that_stays_busy_is_given_up(site, tmp_path):
    site.faults = [503] * 10
    with pytest.raises(DownloadError, match="503 Service Unavailable"):
        get(site, tmp_path)
    assert len(site.asked) == MAX_ATTEMPTS


def test_pauses_grow(site, tmp_path, monkeypatch):
    pauses = []
    monkeypatch.setattr("time.sleep", pauses.append)
    site.faults = [503] * 2 + [("drop", 10), 503]
    download(Remote("a.bin", (site.url + "a.bin",), None), tmp_path)
    assert pauses == [1.0, 2.0, 1.0, 2.0]


def test_a_wrong_checksum_leaves_nothing(site, tmp_path):
    found = hashlib.sha256(b"another file").hexdigest()
    with pytest.raises(DownloadError, match=f"SHA-256 {found}, but {SHA256} was expected"):
        get(site, tmp_path, file="short.bin")
    assert listed(tmp_path) == {}


def test_the_second_address_is_used_where_the_first_fails(site, tmp_path):
    others = (site.url + "b.bin", site.url + "short.bin")
    assert get(site, tmp_path, others=others).read_bytes() == DATA


def test_all_addresses_are_named_where_all_fail(site, tmp_path):
    with pytest.raises(DownloadError, match="/b.bin: .*404.* http.*/c.bin: .*404"):
        get(site, tmp_path, file="c.bin", others=(site.url + "b.bin",))


def test_a_whole_part_needs_no_more_bytes(site, tmp_path):
    (tmp_path / "a.bin.part").write_bytes(DATA)
    assert get(site, tmp_path).read_bytes() == DATA
    assert site.asked == [("/a.bin", f"bytes={len(DATA)}-")]


def test_a_part_that_is_too_long_is_dropped(site, tmp_path):
    (tmp_path / "a.bin.part").write_bytes(DATA + b"more")
    assert get(site, tmp_path).read_bytes() == DATA
    assert site.asked[-1] == ("/a.bin", None)


@pytest.mark.parametrize("fault", [202, "later"])
def test_an_answer_that_is_not_the_file(site, tmp_path, fault):
    (tmp_path / "a.bin.part").write_bytes(DATA[:10])
    site.faults = [fault]
    with pytest.raises(DownloadError, match="did not return the file"):
        get(site, tmp_path)


def test_a_range_that_starts_earlier_than_the_part_ends(site, tmp_path):
    (tmp_path / "a.bin.part").write_bytes(DATA + b"more")
    site.faults = ["earlier"]
    assert get(site, tmp_path).read_bytes() == DATA
    assert len(site.asked) == 1


def test_no_server(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    remote = Remote("a.bin", (f"http://127.0.0.1:{port}/a.bin",), None)
    with pytest.raises(DownloadError, match="refused") as caught:
        download(remote, tmp_path, pause_s=0.0)
    assert isinstance(caught.value, TaxonomistError)
    assert isinstance(caught.value, OSError)
    assert "kept" not in str(caught.value)


def test_a_file_that_is_there_is_not_asked_for(site, tmp_path):
    (tmp_path / "a.bin").write_bytes(DATA)
    assert get(site, tmp_path) == tmp_path / "a.bin"
    assert site.asked == []


def test_a_file_that_is_there_and_wrong_is_replaced(site, tmp_path):
    (tmp_path / "a.bin").write_bytes(b"old")
    assert get(site, tmp_path).read_bytes() == DATA
    assert listed(tmp_path) == {"a.bin": len(DATA)}


def test_a_full_disk_is_not_taken_for_a_bad_connection(site, tmp_path, monkeypatch):
    (tmp_path / "a.bin.part").mkdir()
    with pytest.raises(IsADirectoryError):
        get(site, tmp_path)
    assert len(site.asked) == 1


def test_a_file_of_this_machine(tmp_path):
    source = tmp_path / "from here.bin"
    source.write_bytes(DATA)
    folder = Path(tmp_path / "to")
    folder.mkdir()
    remote = Remote("a.bin", (source.as_uri(),), SHA256)
    assert download(remote, folder).read_bytes() == DATA
    assert source.exists()
