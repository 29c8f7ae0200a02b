"""Loops over other packages, run by `serve.py` in the interpreter that has them installed.

Nothing here imports Ludoteca, and only `prepare` imports the package that is measured.
"""
