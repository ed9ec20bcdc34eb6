"""Optimisers: arrays in, certificate out; one file per algorithm, the problem stated at its top."""
