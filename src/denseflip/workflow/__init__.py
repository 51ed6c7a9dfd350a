"""The steps of a user as library calls: find, open, explain, describe, compare, write.

The command line, the web app and notebooks call these functions. Nothing here prints.
"""
