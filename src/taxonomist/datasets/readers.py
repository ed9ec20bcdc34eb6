"""Read labelled items from a file, in the format given by its suffix."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from taxonomist.datasets.arff import read_arff
from taxonomist.datasets.svmlight import read_svmlight
from taxonomist.datasets.table_formats import FORMATS
from taxonomist.datasets.tables import read_file
from taxonomist.errors import FormatError, refuse_address

if TYPE_CHECKING:
    from taxonomist.datasets.corpus import Corpus
    from taxonomist.datasets.files import FilePath, TaxonomySource

__all__ = ["read"]

_READERS: dict[str, Any] = {
    **{suffix: read_file for known in FORMATS.values() for suffix in known.suffixes},
    ".zip": read_file,
    ".svm": read_svmlight,
    ".svmlight": read_svmlight,
    ".libsvm": read_svmlight,
    ".arff": read_arff,
}


def read(path: FilePath, taxonomy: TaxonomySource = None, **options: Any) -> Corpus:
    """Read labelled items from a file, in the format given by its suffix.

    Parameters
    ----------
    path
        File with the suffix .csv, .tsv, .tab, .jsonl, .ndjson, .json, .xlsx, .xlsm, .xlsb, .xls,
        .ods, .parquet, .svm, .svmlight, .libsvm or .arff, optionally followed by .gz; or a .zip
        archive with one table.
    taxonomy
        Taxonomy of the labels, or a file to read it from. By default, built from the labels, or
        taken from the class attribute of an ARFF file.
    **options
        Options of the reader for this format; for tables, those of ``read_csv``, and ``sheet``,
        the name of a sheet of a workbook.

    Returns
    -------
    Corpus
        The items.

    Raises
    ------
    FormatError
        If the suffix is unknown.
    """
    refuse_address(path)
    name = Path(path).name.lower().removesuffix(".gz")
    reader = _READERS.get(Path(name).suffix)
    if reader is None:
        raise FormatError(
            f"{path} has an unknown suffix; the known ones are {', '.join(_READERS)}."
        )
    corpus: Corpus = reader(path, taxonomy, **options)
    return corpus
