"""Loops over other packages, run by `serve.py` in the interpreter that has them installed.

Modules here do not import Ludoteca, and only `prepare` imports the measured package.
"""
