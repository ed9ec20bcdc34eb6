"""What cells do: load a problem, make a model, try it.

``problems``, ``news``, ``corpora`` and ``senses`` load data; ``models`` and ``contestants`` make
models; ``trials`` cross-validates, ``label_set_trials`` and ``microlabels`` measure label sets,
``contests`` also seconds and memory; ``climbing`` watches a solver, ``grouping`` makes clusters.
"""
