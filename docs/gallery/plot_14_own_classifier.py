"""
Can I explain my own function?
==============================

Any function of an adjacency array is a classifier. This one looks for triangles in the karate
club.
"""

import networkx as nx
from matplotlib.figure import Figure

from denseflip import explain

club = nx.karate_club_graph()


def classify(graph: nx.Graph) -> str:
    return "knit" if nx.transitivity(graph) > 0.2 else "loose"


result = explain(nx.Graph(club.edges), classify, "tri+min")
print(result)

figure = Figure(figsize=(5, 4), layout="constrained")
axes = figure.add_subplot()
layout = nx.spring_layout(club, seed=1)
names = list(club)
removed = [(names[u], names[v]) for u, v in result.removed]
nx.draw_networkx(club, layout, ax=axes, node_size=60, with_labels=False, edge_color="#c8ccd4")
nx.draw_networkx_edges(club, layout, removed, ax=axes, edge_color="#c23b3b", width=3)
axes.set_axis_off()
