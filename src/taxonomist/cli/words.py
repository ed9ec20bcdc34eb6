"""The command line's words for what messages of the library name."""

from __future__ import annotations

import re
import sys

__all__ = ["in_options"]

RULES = (
    (r"\bChoose columns with parent= and child=", "Choose columns with {columns}"),
    (r'\bformat="(\w+)"', r"{format} \1"),
    (r"\bformat=", "{format}"),
    (r"\bn_splits\b", "--folds"),
    (r"\brandom_state\b", "--seed"),
    (r"^(weights|budget|calibration|features|names|measure|vectors) must", r"--\1 must"),
    (r"^(--measure must be .*), or a scorer that .*?(?=\. Got)", r"\1"),
    (r"\bSpecify its encoding, such as", "Name its encoding, such as --encoding"),
    (r"^test_size must", "--test-size must"),
    (r"\btest_size=", "--test-size "),
    (r"\blabel_sep=", "--separator "),
    (r"^model must be", "--model must be"),
    (r"(has no column '(text|label)'; .*)$", r"\1 Name yours with --\2."),
    (r"^(--calibration must be .*), or None\.", r"\1, or none."),
    (r"\bcalibration=None", "--calibration none"),
    (r"\bcalibration='(\w+)'", r"--calibration \1"),
    (r"\bskip_bad=True", "--skip-bad"),
    (r"\binclude_seen=True", "--all"),
    (r"\bdatasets\.names\(\) lists", "'taxonomist data list' lists"),
    (r"\bGive a folder written by save;", "Pass a folder written by 'taxonomist train';"),
)
"""Patterns of names in messages, and what to say instead."""
COLUMNS = "--parent and --child"
MODEL_COLUMNS = dict.fromkeys(("evaluate", "report"), "--text and --label") | {"predict": "--text"}
"""Options for the columns that these commands otherwise know from the model."""
CONVERT = "taxonomist taxonomy convert"
"""The command that has ``COLUMNS``."""


def in_options(message: str, format: str | None = None) -> str:
    """Return a message that names options instead of parameters and functions.

    Parameters
    ----------
    message
        A message of the library.
    format
        The option for the format of a taxonomy; by default, that of the running command.
    """
    if format is None:
        format = "--format" if "taxonomy" in sys.argv[1:2] else "--taxonomy-format"
    is_convert = CONVERT.split()[1:] == sys.argv[1:3]
    columns = COLUMNS if is_convert else f"{COLUMNS} of '{CONVERT}'"
    for pattern, said in RULES:
        said = said.replace("{format}", format).replace("{columns}", columns)
        message = re.sub(pattern, said, message)
    return message + _about_model_columns(message)


def _about_model_columns(message: str) -> str:
    """Return what to do if a table lacks a column that only the model asks for."""
    missing = re.search(r"has no column '(.*?)'; its columns", message)
    options = MODEL_COLUMNS.get(sys.argv[1] if len(sys.argv) > 1 else "")
    if missing is None or options is None or any(missing[1] in given for given in sys.argv[2:]):
        return ""
    return f" The model was trained on columns of these names; pass yours with {options}."
