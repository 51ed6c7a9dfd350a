"""An open benchmark of graph explainers: the same frozen classifiers, graphs and counts for all.

`frozen` trains and opens the classifiers, `problem` is what an explainer gets, `adapters` holds one
file per explainer, `trial` runs one explainer on one graph in a child process and judges its
answer, and `scores` and `arena_page` write the tables and charts.
"""
