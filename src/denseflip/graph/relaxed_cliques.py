"""Sets of nodes that are cliques but for what each member may lack: k-plexes and quasi-cliques.

A member of a clique is joined with all the others. A *k-plex* forgives every member k - 1 of them,
a *γ-quasi-clique* the share 1 - γ. Both are one notion, a table: ``need[s]`` is with how many of
the others a member of a set of s nodes must be joined at least. So one search finds the largest of
either, and one greedy rule makes a set into either.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from denseflip.graph.cliques import Check, Neighbours
from denseflip.graph.density import two_hop
from denseflip.graph.pairs import Pair

_CHECK_EVERY = 64  # branches between two looks at the clock


@dataclass(frozen=True)
class Dense:
    """A dense structure that was found.

    Attributes
    ----------
    nodes : its nodes, ascending.
    level : how dense it is, in the structure's own measure: the order of a core or a truss, edges
        per node, the share of pairs that are joined; 0 where the structure has none.
    exact : False if a search was cut short, so that there may be a larger one.
    """

    nodes: tuple[int, ...]
    level: float = 0.0
    exact: bool = True


Need = Callable[[int], int]  # size of a set -> with how many of the others a member is joined


def plex_need(k: int) -> Need:
    """A k-plex: joined with all the others but k - 1.

    >>> [plex_need(2)(size) for size in (1, 2, 3, 4)]
    [0, 0, 1, 2]
    """
    return lambda size: max(0, size - k)


def quasi_need(gamma: float) -> Need:
    """A γ-quasi-clique: joined with at least the share gamma of the others.

    The share is taken as it is written: 0.7 of ten others are seven.

    >>> [quasi_need(0.7)(size) for size in (2, 3, 4, 11)]
    [1, 2, 3, 7]
    """
    share = Fraction(str(gamma))
    return lambda size: ceil(share * (size - 1))


def largest_lacking(
    node: int,
    neighbours: Neighbours,
    need: Need,
    *,
    max_branches: int = 1000,
    check: Check | None = None,
) -> Dense:
    """A largest set through a node, within two steps of it, whose members lack no more than that.

    Branch and bound: of what is chosen and what may come on, the node that is joined with fewest is
    left out or taken, until the rest is such a set; a branch that cannot be larger than the best
    is left. Which of several largest is given depends on the numbering.

    Parameters
    ----------
    node : the node.
    neighbours : for each node of the graph, the nodes it is joined with.
    need : with how many of the others a member must be joined, by size; may not fall, nor may what
        a member may lack.
    max_branches : the search ends after so many; then ``exact`` is False and the set the best so
        far, at least as large as one grown greedily.
    check : called every few milliseconds; it may raise to end the search.

    Examples
    --------
    >>> square = [{1, 3}, {0, 2}, {1, 3}, {0, 2, 4}, {3}]
    >>> largest_lacking(0, square, plex_need(1)).nodes
    (0, 1)
    >>> largest_lacking(0, square, plex_need(2)).nodes
    (0, 1, 2, 3)
    """
    order, near = _masks(node, neighbours)
    n = len(order)
    needed = [0, *map(need, range(1, n + 2))]
    most = _largest_by_degree(needed, n)  # for a degree, the largest set that it suffices for
    best = _grown(near, needed)
    size = best.bit_count()
    # The node has bit 0. First what is chosen, then what may come on.
    stack = [(1, (1 << n) - 2)]
    branches, exact = 0, True
    while stack:
        chosen, candidates = stack.pop()
        branches += 1
        if branches > max_branches:
            exact = False
            break
        if check is not None and not branches % _CHECK_EVERY:
            check()
        left = _reduced(chosen, candidates, near, needed, most, size)
        if left is None:
            continue
        union = chosen | left
        weakest, fewest = -1, n
        for u in _bits(union):
            degree = (near[u] & union).bit_count()
            # Between equals, what may still go: it can be left out at once.
            if degree < fewest or (degree == fewest and left >> u & 1 and not left >> weakest & 1):
                weakest, fewest = u, degree
        if fewest >= needed[union.bit_count()]:
            best, size = union, union.bit_count()
            continue
        if chosen.bit_count() > size and _is_one(chosen, near, needed):
            best, size = chosen, chosen.bit_count()
        if not left >> weakest & 1:  # chosen, so one of those that it is not joined with must go
            apart = left & ~near[weakest]
            weakest = min(_bits(apart), key=lambda u: (near[u] & union).bit_count())
        bit = 1 << weakest
        stack.append((chosen | bit, left ^ bit))
        stack.append((chosen, left ^ bit))  # left out first: the rest is denser
    return Dense(tuple(sorted(order[u] for u in _bits(best))), exact=exact)


def lack_no_more(nodes: Sequence[int], neighbours: Neighbours, may_lack: int) -> list[Pair]:
    """Pairs to join so that none of these nodes lacks more than so many of the others.

    The pairs of nodes that come first are left as they are as long as both ends may lack one more;
    all other missing pairs are to be joined. No pair of them could be left out.

    >>> lack_no_more([0, 1, 2, 3], [{1}, {0}, set(), set()], may_lack=1)
    [(0, 3), (1, 2), (2, 3)]
    """
    lacks = dict.fromkeys(nodes, 0)
    new = []
    for i, u in enumerate(nodes):
        near = neighbours[u]
        for v in nodes[i + 1 :]:
            if v in near:
                continue
            if lacks[u] < may_lack and lacks[v] < may_lack:
                lacks[u] += 1
                lacks[v] += 1
            else:
                new.append((u, v) if u < v else (v, u))
    return sorted(new)


def join_at_least(nodes: Sequence[int], neighbours: Neighbours, least: int) -> list[Pair]:
    """Pairs to join so that each of these nodes is joined with so many others, or with all.

    Round a ring of the nodes: the next ones, then those after them, as long as both ends are in
    need; then whoever is left, with anyone. So nodes without edges become one connected piece.

    >>> join_at_least([0, 1, 2, 3], [{1}, {0}, set(), set()], least=2)
    [(0, 3), (1, 2), (2, 3)]
    """
    members, n = set(nodes), len(nodes)
    least = min(least, n - 1)
    met = [set(neighbours[v] & members) for v in nodes]
    needy = [i for i in range(n) if len(met[i]) < least]
    new: list[Pair] = []

    def join(i: int, j: int) -> None:
        u, v = nodes[i], nodes[j]
        met[i].add(v)
        met[j].add(u)
        new.append((u, v) if u < v else (v, u))

    # An odd number each: opposite ones first, since the ring gives them two at a time.
    first = [n // 2] if least % 2 and not n % 2 else []
    for step in (*first, *range(1, n // 2 + 1)):
        if not needy:
            break
        for i in needy:
            j = (i + step) % n
            if len(met[i]) < least and len(met[j]) < least and nodes[j] not in met[i]:
                join(i, j)
        needy = [i for i in needy if len(met[i]) < least]
    for i in needy:
        for j in range(n):
            if len(met[i]) >= least:
                break
            if j != i and nodes[j] not in met[i]:
                join(i, j)
    return sorted(new)


def _masks(node: int, neighbours: Neighbours) -> tuple[list[int], list[int]]:
    """The nodes within two steps, the node itself first, and their neighbours as sets of bits."""
    around = two_hop(node, neighbours)
    order = [node, *sorted(around - {node})]
    bit = {v: 1 << i for i, v in enumerate(order)}
    return order, [sum(bit[w] for w in neighbours[v] if w in bit) for v in order]


def _bits(mask: int) -> list[int]:
    """Places of the bits, lowest first."""
    out = []
    while mask:
        low = mask & -mask
        out.append(low.bit_length() - 1)
        mask ^= low
    return out


def _largest_by_degree(needed: Sequence[int], n: int) -> list[int]:
    out, size = [], 0
    for degree in range(n + 1):
        while size < n and needed[size + 1] <= degree:
            size += 1
        out.append(size)
    return out


def _is_one(members: int, near: Sequence[int], needed: Sequence[int]) -> bool:
    wanted = needed[members.bit_count()]
    return all((near[u] & members).bit_count() >= wanted for u in _bits(members))


def _grown(near: Sequence[int], needed: Sequence[int]) -> int:
    """A set grown from bit 0, node by node, always by the one joined with most members."""
    members, outside = 1, set(range(1, len(near)))
    while outside:
        ranked = sorted(outside, key=lambda u: (-(near[u] & members).bit_count(), u))
        for u in ranked:
            if (near[u] & members).bit_count() < needed[members.bit_count() + 1]:
                return members  # nor can any that comes after it
            if _is_one(members | 1 << u, near, needed):
                members |= 1 << u
                outside.discard(u)
                break
        else:
            return members
    return members


def _reduced(
    chosen: int,
    candidates: int,
    near: Sequence[int],
    needed: Sequence[int],
    most: Sequence[int],
    best: int,
) -> int | None:
    """What may come on if the set is to be larger than the best; None if it cannot be."""
    members = _bits(chosen)
    count = len(members)
    while True:
        union = chosen | candidates
        largest = union.bit_count()
        for u in members:
            largest = min(largest, most[(near[u] & union).bit_count()])
        if largest <= best:
            return None
        may_lack = largest - 1 - needed[largest]
        left = candidates
        for u in members:
            lacks = count - 1 - (near[u] & chosen).bit_count()
            if lacks > may_lack:
                return None
            if lacks == may_lack:
                left &= near[u]
        wanted = needed[best + 1]
        for u in _bits(left):
            joined = near[u] & union
            if joined.bit_count() < wanted or count - (joined & chosen).bit_count() > may_lack:
                left ^= 1 << u
        if left == candidates:
            return left
        candidates = left
