"""nbgrader: assignments made from modules, graded in the jail, and written into its gradebook.

Only `gradebook`, `exporter`, `preprocessors`, `release` and `safe` import it: it is an extra, for instructors.
"""
