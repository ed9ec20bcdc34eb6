"""Vocabularies that would keep a parser busy, or have it open other files, are refused."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from time import perf_counter

import pytest

from taxonomist.errors import FormatError
from taxonomist.taxonomy import Taxonomy

SKOS = "http://www.w3.org/2004/02/skos/core#"
INSIDE = {"Concept": f"{SKOS}Concept", "broader": {"@id": f"{SKOS}broader", "@type": "@id"}}
NODES = [
    {"@id": "http://x/a", "@type": "Concept"},
    {"@id": "http://x/b", "@type": "Concept", "broader": "http://x/a"},
]


def xml(declared, label="x", head='<?xml version="1.0"?>'):
    return (
        f"{head}<!DOCTYPE rdf:RDF [{declared}]>"
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
        f'xmlns:skos="{SKOS}"><skos:Concept rdf:about="http://x/a">'
        f"<skos:prefLabel>{label}</skos:prefLabel></skos:Concept></rdf:RDF>"
    )


def read_xml(tmp_path, text, encoding="utf-8"):
    path = tmp_path / "vocabulary.rdf"
    path.write_bytes(text.encode(encoding))
    return Taxonomy.read(path)


def laughs(n=10):
    nested = (f'<!ENTITY a{k} "{f"&a{k - 1};" * 10}">' for k in range(1, n))
    return "".join(['<!ENTITY a0 "ha ha ha">', *nested])


@pytest.mark.parametrize(
    ("declared", "label", "message"),
    [
        (laughs(), "&a9;", "the XML entity 'a1' contains other entities"),
        (f'<!ENTITY a "{"x" * 100_000}">', "&a;" * 20_000, "is longer than 2,000 characters"),
        (f'<!ENTITY a "{"x" * 2_000}">', "&a;" * 50_000, "would expand a text of"),
        ('<!ENTITY a SYSTEM "file:///etc/passwd">', "&a;", "'a' refers to another file"),
        ('<!ENTITY a PUBLIC "x" "http://127.0.0.1/x">', "&a;", "'a' refers to another file"),
        ('<!ENTITY % a "x">', "x", "changes the document type"),
        (f'<!ATTLIST skos:Concept a CDATA "{"x" * 100_000}">', "x", "declares attributes"),
    ],
)
def test_expanding_entities_are_refused_at_once(declared, label, message, tmp_path):
    start = perf_counter()
    with pytest.raises(FormatError, match=message):
        read_xml(tmp_path, xml(declared, label))
    assert perf_counter() - start < 5


def test_abbreviations_of_addresses_are_read(tmp_path):
    text = xml('<!ENTITY place "http://x/"><!ENTITY name "Cats">', "&name; &amp; dogs")
    taxonomy = read_xml(tmp_path, text.replace('"http://x/a"', '"&place;a"'))
    assert taxonomy.nodes == ("http://x/a",)
    assert taxonomy.names == ("Cats & dogs",)


@pytest.mark.parametrize("encoding", ["cp037", "utf-16", "latin-1"])
def test_the_text_that_is_checked_is_the_text_that_is_read(encoding, tmp_path):
    # The file is UTF-8, whatever it declares: a parser that obeyed would read another text.
    text = xml("", "Käse", head=f'<?xml version="1.0" encoding="{encoding}"?>')
    assert read_xml(tmp_path, text).names == ("Käse",)


class _Counting(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.n_requests += 1
        body = json.dumps({"@context": INSIDE}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/ld+json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    with HTTPServer(("127.0.0.1", 0), _Counting) as found:
        found.n_requests = 0
        thread = threading.Thread(target=found.serve_forever)
        thread.start()
        yield found
        found.shutdown()
        thread.join()


def read_json(tmp_path, document):
    path = tmp_path / "vocabulary.jsonld"
    path.write_text(json.dumps(document), encoding="utf-8")
    return Taxonomy.read(path)


FORMS = {
    "address": lambda at: {"@context": at, "@graph": NODES},
    "list": lambda at: {"@context": [INSIDE, [at]], "@graph": NODES},
    "import": lambda at: {"@context": {**INSIDE, "@import": at}, "@graph": NODES},
    "node": lambda at: [{"@context": at, **node} for node in NODES],
    "scoped": lambda at: {
        "@context": {**INSIDE, "Concept": {"@id": f"{SKOS}Concept", "@context": at}},
        "@graph": NODES,
    },
}


@pytest.mark.parametrize("form", FORMS)
def test_contexts_are_not_downloaded(form, server, tmp_path):
    address = f"http://127.0.0.1:{server.server_port}/context.jsonld"
    with pytest.raises(FormatError, match=f"context '{address}' is outside the file"):
        read_json(tmp_path, FORMS[form](address))
    assert server.n_requests == 0


@pytest.mark.parametrize("form", FORMS)
def test_contexts_are_not_opened(form, tmp_path):
    (tmp_path / "context.jsonld").write_text(json.dumps({"@context": INSIDE}))
    for address in ((tmp_path / "context.jsonld").as_uri(), "context.jsonld"):
        with pytest.raises(FormatError, match=f"context '{address}' is outside the file"):
            read_json(tmp_path, FORMS[form](address))


def test_contexts_inside_the_file_are_used(tmp_path):
    found = read_json(tmp_path, {"@context": [INSIDE, {"@language": "en"}], "@graph": NODES})
    assert found.nodes == ("http://x/a", "http://x/b")
