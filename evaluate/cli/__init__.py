"""Command line of the package: one module per command, imported when it is called.

Imports everything in `evaluate`; nothing else imports this folder.
"""
