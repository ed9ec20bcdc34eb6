"""Scorers, decision rules and calibrated probabilities: from scores to predictions."""
