"""Edge lists and tables of levels: what is accepted, and what each mistake is told."""

from __future__ import annotations

import time

import pytest

from taxonomist.errors import FormatError, TaxonomyError
from taxonomist.taxonomy import Taxonomy
from taxonomist.taxonomy.formats.delimited import read_edges, read_levels, write_edges, write_levels

PAIR = Taxonomy([("a", "b"), ("a", "c")], names={"b": "Bee"})


@pytest.mark.parametrize(
    "text",
    [
        "parent,child,name\na,b,Bee\na,c,\n",
        "parent\tchild\tname\r\na\tb\tBee\r\na\tc\t\r\n",
        "parent;child;name\na;b;Bee\na;c;",
        "\n Parent , CHILD ,Name\n\n a , b ,Bee\na,c,\n\n",
        'name,level,child,parent\nBee,1,"b","a"\n,1,c,a\n',
        "parent,child,name\n,a,\na,b,Bee\na,c,\n",
        "parent,child,name\n  ,a,\na,b,Bee\na,c,\n",
    ],
    ids=[
        "csv",
        "tsv",
        "semicolon",
        "blanks and case",
        "further columns",
        "empty parent",
        "blank parent",
    ],
)
def test_edge_list_variants(text):
    assert read_edges(text) == PAIR


def test_chosen_columns():
    text = "broader,narrower,title_fi,title_en\na,b,Mehiläinen,Bee\na,c,,\n"
    assert read_edges(text, parent="broader", child="narrower", name="title_en") == PAIR
    assert read_edges(text, parent="Broader", child="narrower").raw_names == {}


def test_children_may_be_called_ids():
    assert read_edges("id,parent,name\nb,a,Bee\nc,a,\n") == read_edges(
        "child,parent,name\nb,a,Bee\nc,a,\n"
    )
    assert read_edges("id,parent,child\n1,a,b\n2,a,c\n") == read_edges("parent,child\na,b\na,c\n")


def test_quoted_delimiters_and_newlines():
    taxonomy = read_edges('parent,child\n"a,1","b\n2"\n"a,1","c ""3"""\n')
    assert taxonomy.nodes == ("a,1", "b\n2", 'c "3"')


def test_several_tops_are_joined():
    assert read_edges("parent,child\n,a\n,b\na,c\n").roots == ("a", "b")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("parent,kid\na,b\n", r"line 1: no column 'child'.*'parent', 'kid'.*levels"),
        ("parent,childd\na,b\n", r"Did you mean 'childd'\?"),
        ("parent,child\n", "header line but no rows"),
        ("parent,child\na,b\na\n", "line 3: the row has 1 cells but the header has 2"),
        ("parent,child\na,b,c\n", "line 2: the row has 3 cells but the header has 2"),
        ("parent,child\na,b\na, \n", "line 3: the child is empty"),
        ("parent,child\na,b\na,c\na,b\n", "line 4: the edge 'a' -> 'b' is already on line 2"),
        ('parent,child\n\'a,"x\ny"\n\na,b\na,b\n', "line 6: .*line 5"),
        ("parent,child,name\na,b,B\nc,b,C\n", "line 3: 'b' is named 'C', and 'B' on an earlier"),
        ('parent,child\na,b\na,"c\nd,e\n', "line 3: the quotes are malformed"),
        ('parent,child\na,"b"c\n', "line 2: the quotes are malformed"),
    ],
)
def test_mistakes_in_edge_lists(text, sentence):
    with pytest.raises(FormatError, match=sentence):
        read_edges(text)


def test_missing_name_column():
    with pytest.raises(FormatError, match=r"no column 'titel'.*Did you mean 'title'.*name="):
        read_edges("parent,child,title\na,b,B\n", name="titel")


def test_cycle_is_shown():
    with pytest.raises(TaxonomyError, match="cycle: 'a' -> 'b' -> 'a'|cycle: 'b' -> 'a' -> 'b'"):
        read_edges("parent,child\na,b\nb,a\n")


def test_levels_and_ragged_depth():
    table = "area,field,topic\nScience,Physics,Optics\nScience,Physics,\nArts\nArts,Music,Optics\n"
    taxonomy = read_levels(table)
    assert taxonomy.roots == ("Science", "Arts")
    assert taxonomy.leaves == ("Science > Physics > Optics", "Arts > Music > Optics")
    assert read_levels(table, columns=["Area", "field"]).leaves == ("Physics", "Music")
    assert read_levels(table, ids="name").parents("Optics") == ("Physics", "Music")
    assert read_levels(table, sep="/").leaves[0] == "Science / Physics / Optics"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a,b,c\nx,y,z\nx,,z\n", "line 3: the level 'b' is empty, but a level below it is not"),
        ("a,b\nx,y\n,\n", "line 3: all levels are empty"),
        ("a,b\nx,y,z\n", "line 2: the row has 3 cells but the header has 2"),
        ("a,b\n", "header line but no rows"),
    ],
)
def test_mistakes_in_levels(text, sentence):
    with pytest.raises(FormatError, match=sentence):
        read_levels(text)


def test_missing_level_column():
    with pytest.raises(FormatError, match="line 1: no column 'd'"):
        read_levels("a,b\nx,y\n", columns=["a", "d"])


@pytest.mark.parametrize(
    "taxonomy",
    [PAIR, Taxonomy([("ROOT", "a")]), Taxonomy([("a", "b"), ("c", "b")])],
    ids=["names", "one node below ROOT", "DAG"],
)
def test_levels_refuse_what_they_cannot_hold(taxonomy):
    with pytest.raises(FormatError, match="a table of levels holds only trees"):
        write_levels(taxonomy)


def test_written_text():
    assert write_edges(PAIR) == "parent,child,name\r\na,b,Bee\r\na,c,\r\n"
    assert write_levels(Taxonomy.flat("ab")) == "level 1\r\na\r\nb\r\n"
    assert write_levels(Taxonomy([("a", "b")]), delimiter="\t") == "level 1\tlevel 2\r\na\tb\r\n"


def test_wordnet_reads_in_seconds(data_folder):
    start = time.process_time()
    nouns = Taxonomy.read(data_folder("wordnet-semcor") / "wordnet30_noun_hypernyms.csv.gz")
    assert time.process_time() - start < 3
    assert (nouns.n_nodes, nouns.roots) == (82116, ("00001740-n",))
