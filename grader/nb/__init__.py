"""nbgrader: assignments made from modules, graded in the jail, and written into its gradebook.

What makes an assignment (`cells`, `visible`, `assignment`, `given`, `scores`) does without it: it is an extra.
"""
