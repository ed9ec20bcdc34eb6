"""The work of cells: load data, make a model, evaluate it.

``problems``, ``news``, ``corpora`` and ``senses`` load data; ``models`` and ``contestants`` make
models; ``trials`` cross-validates; ``label_set_trials`` and ``microlabels`` measure label sets;
``contests`` also measures time and memory; ``climbing`` observes a solver; ``grouping`` clusters.
"""
