"""The search: one engine, four kinds of block, and the methods composed of them."""
