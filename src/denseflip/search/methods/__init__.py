"""One module per search method, and the registry of their names."""
