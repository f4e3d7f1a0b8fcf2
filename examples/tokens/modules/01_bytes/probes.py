"""Probes of 01_bytes: the calls by which its wrong ways are told apart."""

from grader.diagnosis.probe import probe

PROBES = [
    probe("bytes", "To be or not to be"),
    probe("bytes", "one  two\none"),
    probe("bytes", ""),
]
