"""What is done with a counterfactual once found: make it robust, plausible, diverse."""
