"""Benchmarks: one module a question, results as JSON in ``results/``."""
