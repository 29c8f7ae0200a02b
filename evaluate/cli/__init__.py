"""Command line of the package: one module a command, each imported when it is called.

Imports everything in `evaluate`; nothing else imports this folder.
"""
