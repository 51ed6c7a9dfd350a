"""What a person does, as library calls: find, open, explain, tell, compare, write.

The command line, pages and notebooks are skins over this room; nothing here prints.
"""
