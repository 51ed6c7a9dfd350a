"""What a person does, as library calls: find, open, explain, tell, compare, write."""
