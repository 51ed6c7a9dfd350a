"""Relaxed cliques, in which members may lack some edges: k-plexes, quasi-cliques, k-clubs.

A member of a clique is joined with all the others. In a *k-plex* every member may lack k - 1 of
them, in a *γ-quasi-clique* the share 1 - γ. Both are described by a table: ``need[s]`` is the
smallest number of other members that a member of a set of s nodes is joined with. So the same
search finds the largest of either, and the same greedy rule completes a set to either.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from denseflip.graph.cliques import Check, Neighbours
from denseflip.graph.pairs import Pair, ordered

_CHECK_EVERY = 64  # branches between two checks of the time


@dataclass(frozen=True)
class Dense:
    """A dense structure that was found.

    Attributes
    ----------
    nodes : its nodes, ascending.
    level : its density, in the measure of the structure: the order of a core or truss, edges per
        node, or the share of pairs that are joined; 0 if the structure has no measure.
    exact : False if the search stopped early, so there may be a larger one.
    """

    nodes: tuple[int, ...]
    level: float = 0.0
    exact: bool = True


Need = Callable[[int], int]  # size of a set -> how many of the others a member is joined with


def plex_need(k: int) -> Need:
    """A k-plex: each member is joined with all but k - 1 others.

    >>> [plex_need(2)(size) for size in (1, 2, 3, 4)]
    [0, 0, 1, 2]
    """
    return lambda size: max(0, size - k)


def quasi_need(gamma: float) -> Need:
    """A γ-quasi-clique: joined with at least the share gamma of the others.

    The share is exact in decimal: 0.7 of ten others are seven.

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
    """A largest relaxed clique through a node, among the nodes within two steps.

    Branch and bound: of the chosen nodes and the candidates, the node with fewest neighbours is
    dropped or kept, until the rest is such a set. A branch that cannot exceed the best is pruned.
    If there are several largest sets, the node numbers decide.

    Parameters
    ----------
    node : the node.
    neighbours : for each node of the graph, the nodes it is joined with.
    need : how many of the others a member must be joined with, by size; neither this nor the number
        that a member may lack may decrease.
    max_branches : the largest number of branches. If it is reached, ``exact`` is False and the set
        is the best so far, at least as large as one grown greedily.
    check : called every few milliseconds; may raise to stop the search.

    Examples
    --------
    >>> square = [{1, 3}, {0, 2}, {1, 3}, {0, 2, 4}, {3}]
    >>> largest_lacking(0, square, plex_need(1)).nodes
    (0, 1)
    >>> largest_lacking(0, square, plex_need(2)).nodes
    (0, 1, 2, 3)
    """
    order, near = _masks(node, neighbours, 2)
    n = len(order)
    needed = [0, *map(need, range(1, n + 2))]
    most = _largest_by_degree(needed, n)  # for each degree, the largest set for which it is enough
    best = _grown(near, needed)
    size = best.bit_count()
    # The node has bit 0. First the chosen nodes, then the candidates.
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
            # Among equals prefer a candidate: it can be dropped directly.
            if degree < fewest or (degree == fewest and left >> u & 1 and not left >> weakest & 1):
                weakest, fewest = u, degree
        if fewest >= needed[union.bit_count()]:
            best, size = union, union.bit_count()
            continue
        if chosen.bit_count() > size and _is_one(chosen, near, needed):
            best, size = chosen, chosen.bit_count()
        if not left >> weakest & 1:  # chosen, so one of its non-neighbours must be dropped
            apart = left & ~near[weakest]
            weakest = min(_bits(apart), key=lambda u: (near[u] & union).bit_count())
        bit = 1 << weakest
        stack.append((chosen | bit, left ^ bit))
        stack.append((chosen, left ^ bit))  # dropped first: the rest is denser
    return Dense(tuple(sorted(order[u] for u in _bits(best))), exact=exact)


def lack_no_more(nodes: Sequence[int], neighbours: Neighbours, may_lack: int) -> list[Pair]:
    """Pairs to add so that each of these nodes lacks at most ``may_lack`` of the others.

    Missing pairs of the first nodes stay missing as long as both ends may lack one more; all other
    missing pairs are added. None of the added pairs could be left out.

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
                new.append(ordered(u, v))
    return sorted(new)


def join_at_least(nodes: Sequence[int], neighbours: Neighbours, least: int) -> list[Pair]:
    """Pairs to add so that each of these nodes has at least ``least`` neighbours among the others.

    If there are fewer others, with all of them. Pairs are added around a ring of the nodes: nearest
    neighbours, then the next ones, as long as both ends need more; then the remaining nodes with
    any other. So nodes without edges become connected.

    >>> join_at_least([0, 1, 2, 3], [{1}, {0}, set(), set()], least=2)
    [(0, 3), (1, 2), (2, 3)]
    """
    members, n = set(nodes), len(nodes)
    least = min(least, n - 1)
    met: dict[int, set[int]] = {}  # of those that need more
    for i, v in enumerate(nodes):
        common = members.intersection(neighbours[v])
        if len(common) < least:
            met[i] = common
    new: list[Pair] = []

    def join(i: int, j: int) -> None:
        u, v = nodes[i], nodes[j]
        new.append(ordered(u, v))
        for end, other in ((i, v), (j, u)):
            if end in met:
                met[end].add(other)
                if len(met[end]) == least:
                    del met[end]

    # For an odd number, opposite nodes first, because the ring adds two at a time.
    first = [n // 2] if least % 2 and not n % 2 else []
    for step in (*first, *range(1, n // 2 + 1)):
        if not met:
            break
        for i in list(met):
            j = (i + step) % n
            if i in met and j in met and nodes[j] not in met[i]:
                join(i, j)
    for i in list(met):
        for j in range(n):
            if i not in met:
                break
            if j != i and nodes[j] not in met[i]:
                join(i, j)
    return sorted(new)


def count_joined(size: int, least: int) -> int:
    """The number of pairs that `join_at_least` adds to this number of nodes without edges.

    >>> [count_joined(size, 3) for size in (2, 3, 4, 5, 6)]
    [1, 3, 6, 8, 9]
    """
    least = max(0, min(least, size - 1))
    if not (size % 2 and least % 2):
        return size * least // 2
    # The ring gives each node an even number. Then each needs one more, and the next step joins
    # blocks of that many nodes with the blocks that follow. Some of the last nodes are left.
    step = (least + 1) // 2
    start = size - size % (2 * step)
    needy = dict.fromkeys(range(max(start, size - step), min(size, start + step)))
    for further in range(step + 1, size // 2 + 1):
        if len(needy) < 2:
            break
        for i in list(needy):
            j = (i + further) % size
            if i in needy and j in needy:
                del needy[i], needy[j]
    joined = (size - len(needy)) // 2
    # Nodes that still need one are joined with nodes that need none.
    return size * (least - 1) // 2 + joined + len(needy)


def first_to_join(
    nodes: Sequence[int], neighbours: Neighbours, least: Callable[[int], int]
) -> Callable[[int], int | None]:
    """A function that skips the sizes for which `join_at_least` adds nothing.

    It returns the smallest size, from the given one, such that one of that many first nodes has
    fewer than ``least(size)`` neighbours among them; None if there is no such size.

    >>> near = [{1, 2}, {0, 2}, {0, 1}, set()]
    >>> first_to_join([0, 1, 2, 3], near, lambda size: 2)(2)
    4
    """
    inside: set[int] = set()
    met: dict[int, int] = {}

    def widen(size: int) -> None:
        for v in nodes[len(inside) : size]:
            common = inside & neighbours[v]
            for u in common:
                met[u] += 1
            met[v] = len(common)
            inside.add(v)

    def first(size: int) -> int | None:
        if not met and size <= len(nodes):  # often the first size will do: try it without counts
            now, enough = set(nodes[:size]), min(least(size), size - 1)
            if any(len(now & neighbours[v]) < enough for v in reversed(nodes[:size])):
                return size
        for wider in range(size, len(nodes) + 1):
            widen(wider)
            if min(met.values(), default=0) < min(least(wider), wider - 1):
                return wider
        return None

    return first


def _masks(node: int, neighbours: Neighbours, k: int) -> tuple[list[int], list[int]]:
    """The nodes within k steps, the node itself first, and their neighbours as bit sets."""
    around, edge = {node}, {node}
    for _ in range(k):
        edge = set().union(*(neighbours[v] for v in edge)) - around
        around |= edge
    order = [node, *sorted(around - {node})]
    bit = {v: 1 << i for i, v in enumerate(order)}
    return order, [sum(bit[w] for w in neighbours[v] if w in bit) for v in order]


def _bits(mask: int) -> list[int]:
    """Positions of the bits, lowest first."""
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
    """A set grown greedily from bit 0, always by the node joined with most members."""
    members, outside = 1, set(range(1, len(near)))
    while outside:
        ranked = sorted(outside, key=lambda u: (-(near[u] & members).bit_count(), u))
        for u in ranked:
            if (near[u] & members).bit_count() < needed[members.bit_count() + 1]:
                return members  # nor can any later one
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
    """The candidates for a set larger than the best; None if there can be none."""
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


# ---- k-clubs: nodes that are at most k steps apart on paths inside the set ----------------


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
    order, near = _masks(node, neighbours, k)
    best = _grown_club(1 | near[0], near, k)
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


def star(nodes: Sequence[int], neighbours: Neighbours) -> list[Pair]:
    """Pairs to add so that the node with most neighbours is joined with all the others.

    >>> star([0, 1, 2, 3], [{1}, {0, 2}, {1}, set()])
    [(1, 3)]
    """
    members = set(nodes)
    hub = max(nodes, key=lambda u: len(neighbours[u] & members))
    lacking = members - neighbours[hub] - {hub}
    return sorted(ordered(hub, v) for v in lacking)


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


def _grown_club(members: int, near: Sequence[int], k: int) -> int:
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
