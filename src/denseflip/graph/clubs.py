"""k-clubs: sets of nodes that are at most k steps apart on paths inside the set."""

from __future__ import annotations

from collections.abc import Sequence

from denseflip.graph.cliques import Check, Neighbours
from denseflip.graph.relaxed_cliques import Dense, _bits


def largest_club(
    node: int,
    neighbours: Neighbours,
    k: int = 2,
    *,
    max_branches: int = 200,
    check: Check | None = None,
) -> Dense:
    """A largest k-club through a node (k at least 2).

    Branch and bound over the nodes within k steps: the node that is too far from most others is
    either dropped, or kept and those too far from it dropped. The initial solution is the node and
    its neighbours, which are a 2-club, extended greedily. If there are several largest clubs, the
    node numbers decide.

    Parameters
    ----------
    node, neighbours, check : see `denseflip.graph.relaxed_cliques.largest_lacking`.
    k : the largest diameter.
    max_branches : the largest number of branches; if it is reached, ``exact`` is False.

    Examples
    --------
    >>> five_in_a_ring_and_a_tail = [{1, 4}, {0, 2}, {1, 3}, {2, 4}, {0, 3, 5}, {4}]
    >>> largest_club(0, five_in_a_ring_and_a_tail).nodes
    (0, 1, 2, 3, 4)
    """
    order = _ball(node, neighbours, k)
    bit = {v: 1 << i for i, v in enumerate(order)}
    near = [sum(bit[w] for w in neighbours[v] if w in bit) for v in order]
    best = _grown(1 | near[0], near, k)
    size = best.bit_count()
    stack = [(1, (1 << len(order)) - 2)]
    branches, exact = 0, True
    while stack:
        chosen, candidates = stack.pop()
        branches += 1
        if branches > max_branches:
            exact = False
            break
        if check is not None:
            check()
        while True:
            union = chosen | candidates
            if union.bit_count() <= size:
                break
            reach = _reach(union, near, k)
            close = union
            for u in _bits(chosen):
                close &= reach[u]
            if chosen & ~close:  # two chosen nodes are too far apart
                break
            if close != union:
                candidates &= close
                continue
            weakest = min(_bits(union), key=lambda u: (reach[u] & union).bit_count())
            if reach[weakest] & union == union:
                best, size = union, union.bit_count()
                break
            # All chosen nodes reach everything, so the weakest candidate may be dropped.
            stack.append((chosen | 1 << weakest, candidates ^ 1 << weakest))
            stack.append((chosen, candidates ^ 1 << weakest))
            break
    return Dense(tuple(sorted(order[u] for u in _bits(best))), exact=exact)


def star(nodes: Sequence[int], neighbours: Neighbours) -> list[tuple[int, int]]:
    """Pairs to add so that the node with most neighbours is joined with all the others.

    >>> star([0, 1, 2, 3], [{1}, {0, 2}, {1}, set()])
    [(1, 3)]
    """
    members = set(nodes)
    hub = max(nodes, key=lambda u: len(neighbours[u] & members))
    lacking = members - neighbours[hub] - {hub}
    return sorted((min(hub, v), max(hub, v)) for v in lacking)


def _ball(node: int, neighbours: Neighbours, k: int) -> list[int]:
    """Nodes within k steps: the node itself, then the others ascending."""
    seen, edge = {node}, {node}
    for _ in range(k):
        edge = set().union(*(neighbours[v] for v in edge)) - seen
        seen |= edge
    return [node, *sorted(seen - {node})]


def _reach(members: int, near: Sequence[int], k: int) -> dict[int, int]:
    """For each member, those within k steps of it inside the set, itself included."""
    inside = {u: _bits(near[u] & members) for u in _bits(members)}
    reach = {u: near[u] & members | 1 << u for u in inside}
    for _ in range(k - 1):
        further = {}
        for u, around in inside.items():
            mask = reach[u]
            if mask != members:
                for w in around:
                    mask |= reach[w]
            further[u] = mask
        if further == reach:
            break
        reach = further
    return reach


def _grown(members: int, near: Sequence[int], k: int) -> int:
    """Extend a club greedily, by node number, as long as it stays a club."""
    for u in range(len(near)):
        if members >> u & 1 or not near[u] & members:
            continue
        wider = members | 1 << u
        if k == 2:  # existing paths remain, so only the new node has to reach all
            two = near[u] | 1 << u
            for w in _bits(near[u] & members):
                two |= near[w]
            if two & wider == wider:
                members = wider
        elif all(mask == wider for mask in _reach(wider, near, k).values()):
            members = wider
    return members
