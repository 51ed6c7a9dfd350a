"""Claims about places, their test on redrawn connections, and the search for claims."""
