"""Verdicts compared: the same wrong ways, written for a public grader's signatures and for ours. Who accepts them?"""
