"""One file per explainer, or per family of explainers. Each is a class with `explain(problem)`."""
