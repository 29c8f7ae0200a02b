"""Timed loops over peers (other packages), which `serve.py` runs in an interpreter that has them.

Modules here do not import Ludoteca, and only their functions `prepare` import the measured package.
"""
