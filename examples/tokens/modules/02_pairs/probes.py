"""Probes of 02_pairs: the calls by which its wrong ways are told apart."""

from grader.diagnosis.probe import probe

PROBES = [
    probe("pairs", "To be or not to be"),
    probe("pairs", "one  two\none"),
    probe("pairs", ""),
]
