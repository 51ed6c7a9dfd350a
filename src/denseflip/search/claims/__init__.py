"""What a sentence claims of places, the test on redrawn connections, and the search for claims."""
