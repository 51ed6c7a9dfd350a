"""What every search is made of: the problem, the engine, probing tools, refinement, targets."""
