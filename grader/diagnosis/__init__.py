"""Diagnosis: from how a submission behaves to what its author believes that is not so."""
