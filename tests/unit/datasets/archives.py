"""Tiny archives in the form of the public corpora; their texts are made up."""

from __future__ import annotations

import gzip
import io
import tarfile

NEWSGROUPS = {
    "20news-bydate-train/sci.med/200": "Subject: Old\n  stories\nFrom: b\n\nCaf\xe9\n\nTwo",
    "20news-bydate-train/sci.med/99": "From: a\nSUBJECT:  A  cure \nLines: 1\n\nTake water.\n",
    "20news-bydate-test/alt.atheism/7": "From: c\r\nSubject: x\r\n\r\nOne\r\nTwo\r\n",
    "20news-bydate-test/talk.religion.misc/8": "From: d\n\nno subject: here",
    "20news-bydate-train/README": "not a posting",
}


def story(number: int, topics: str, text: str, *, split: str = "TRAIN", marked: str = "YES") -> str:
    """Return a story of Reuters-21578; topics are parted by blanks."""
    listed = "".join(f"<D>{topic}</D>" for topic in topics.split())
    return (
        f'<REUTERS TOPICS="{marked}" LEWISSPLIT="{split}" CGISPLIT="" OLDID="1" NEWID="{number}">\n'
        f"<DATE>1-JAN-1987</DATE>\n<TOPICS>{listed}</TOPICS>\n<PLACES><D>tea</D></PLACES>\n"
        f"<UNKNOWN>\n&#5;&#5;&#5;C</UNKNOWN>\n{text}\n</REUTERS>\n"
    )


FULL = (
    "<TEXT>&#2;\n<TITLE>TIN &lt;T> &amp;lt; ZINC</TITLE>\n<DATELINE>    OSLO, Jan 1 - </DATELINE>"
    "<BODY>Tin rose\x03.\n    Zinc\x7f fell. &#127;\n Reuter\n&#3;</BODY></TEXT>"
)
REUTERS = {
    "reut2-001.sgm": '<!DOCTYPE lewis SYSTEM "lewis.dtd">\n'
    + story(12, "tea coffee", '<TEXT TYPE="BRIEF">&#2;\n<TITLE>TEA</TITLE>\n</TEXT>', split="TEST")
    + story(11, "wheat", '<TEXT TYPE="UNPROC">&#2;\n****PRICES\n 1 2\n&#3;</TEXT>')
    + story(13, "tea", FULL, split="NOT-USED"),
    "reut2-000.sgm": story(2, "zinc tin no-such-topic", FULL)
    + story(3, "tin", FULL, marked="NO")
    + story(4, "no-such-topic", FULL)
    + story(5, "", FULL),
    "README.txt": story(6, "tin", FULL),
}

RCV1 = {
    "lyrl2004_vectors_train.dat.gz": "2286  864:0.5 1523:0.25\n2287  47236:1\n",
    "lyrl2004_vectors_test_pt0.dat.gz": "26151  1:0.125\n",
    "lyrl2004_vectors_test_pt1.dat.gz": "26152  2:0.5\n",
    "lyrl2004_vectors_test_pt2.dat.gz": "26153  3:0.5\n",
    "lyrl2004_vectors_test_pt3.dat.gz": "26154  4:0.5\n",
    "rcv1-v2.topics.qrels.gz": "E11 2286 1\nECAT 2286 1\nMCAT 2287 1\nC11 26151 1\nCCAT 26151 1\n"
    "GCAT 26152 1\nGCAT 26153 1\nGCAT 26154 1\n",
}


def tar_gz(files: dict[str, str]) -> bytes:
    """Return a gzip'd tar archive of files in Latin-1, with their folders."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        folder = tarfile.TarInfo("folder")
        folder.type = tarfile.DIRTYPE
        archive.addfile(folder)
        for name, text in files.items():
            data = text.encode("latin-1")
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return stream.getvalue()


def gz(files: dict[str, str]) -> dict[str, bytes]:
    """Return files, each gzip'd."""
    return {name: gzip.compress(text.encode()) for name, text in files.items()}
