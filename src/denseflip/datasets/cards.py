"""The card of every data set that comes with denseflip: where it is from, and what to mind."""

from __future__ import annotations

from denseflip.datasets.base import Card

REPOSITORY = (
    "https://github.com/carlo-abrate/"
    "Counterfactual-Explanations-for-Graph-Classification-Through-the-Lenses-of-Density"
)
COMMIT = "3440733cfab0ba271b176a9c9d60dd62aaae8af3"

_PAPER = (
    "C. Abrate, G. Preti, F. Bonchi: Counterfactual Explanations for Graph Classification Through "
    "the Lenses of Density. World Conference on Explainable Artificial Intelligence (xAI), 2023."
)
_NO_LICENCE = (
    "None stated by the authors of the repository, so denseflip fetches the file for you instead "
    "of passing it on."
)

MICE = Card(
    source="graspologic 3.4.4, datasets/mice (MIT licence), thinned by scripts/extract_mice.py; "
    "shipped inside denseflip.",
    licence="MIT (Copyright Microsoft Corporation and contributors)",
    citation="N. Wang et al.: Variability and heritability of mouse brain structure: Microscopic "
    "MRI atlases and connectomes for diverse strains. NeuroImage 222 (2020) 117274. "
    "doi:10.1016/j.neuroimage.2020.117274",
    description="Whole-brain diffusion-MRI connectomes of mice of four strains: C57BL/6J (B6), "
    "BTBR T+ Itpr3tf/J (BTBR), CAST/EiJ (CAST) and DBA/2J (DBA2). Nodes are regions of a "
    "symmetric atlas, edges the 10 % of node pairs joined by the most streamlines. The default "
    "task tells B6 from BTBR mice, which are born without a corpus callosum: a good explanation "
    "speaks of connections between the hemispheres.",
    sizes="32 mice, 8 per strain (4 female, 4 male); 332 nodes; 5,495 edges each.",
    caveats=(
        "Sixteen mice in the default task: every figure comes with a wide interval.",
        "Every graph has the same number of edges, so an edge gained in one place was lost in "
        "another.",
        "Sex cannot be told from these graphs (task 'sex'): a classifier not worth explaining.",
        "White-matter tracts are nodes too; there are no coordinates.",
    ),
)

SYNTHETIC = Card(
    source="Made in code by denseflip.datasets.make_synthetic; nothing is shipped.",
    licence="BSD-3-Clause, as denseflip",
    citation="",
    description="A cohort over the AAL-116 atlas. Each subject's pair strengths are one shared "
    "pattern (near regions, the same lobe and mirrored regions are joined more strongly) plus "
    "noise of their own; in class 1 the pairs between two chosen regions are raised (hyper) or "
    "lowered (hypo). The strongest 10 % of pairs are the edges. The planted regions are in "
    "dataset.attributes['planted'].",
    caveats=("Made up: good for checking a method, no evidence about brains.",),
)

_AAL = "Nodes are the 116 regions of the AAL atlas."
_GRAND = (
    "S. Pan et al.: Task sensitive feature exploration and learning for multitask graph "
    "classification. IEEE Transactions on Cybernetics, 2016."
)
_CRADDOCK = (
    "190 regions of a data-driven parcellation, without names or places: no region sentences.",
    "Very sparse: many nodes have no edge at all.",
)
_TRAINED = "The paper scores its classifier on the graphs it was trained on; see `evaluate`."

_BRAIN: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "aut": (
        "Children under 9 with Autism Spectrum Disorder (49) and typically developed (52), from "
        f"ABIDE; functional MRI, strongest 10 % of correlations. {_AAL}",
        "C. Craddock et al.: The Neuro Bureau Preprocessing Initiative: open sharing of "
        "preprocessed neuroimaging data and derivatives. Frontiers in Neuroinformatics, 2013.",
        ("The numbers of edges differ a little between graphs (655.6 on average, not 667).",),
    ),
    "bip": (
        "Type I bipolar patients and typically developed, from a study of lithium response; "
        f"functional MRI, strongest 20 % of correlations. {_AAL}",
        "G. Sani et al.: Association between duration of lithium exposure and hippocampus/amygdala "
        "volumes in type I bipolar disorder. Journal of Affective Disorders, 2018.",
        ("The paper's table prints 667 edges; the file has 1,334 (the 80th percentile).",),
    ),
    "adhd": (
        "Adults with and without a childhood diagnosis of ADHD (Multimodal Treatment of ADHD "
        f"study, ACPI); functional MRI, strongest 10 % of correlations. {_AAL}",
        "fcon_1000.projects.nitrc.org/indi/ACPI/html/acpi_mta_1.html",
        ("Unbalanced: always answering 'Typically Developed' is right in 68 % of cases.",),
    ),
    "adhdm": (
        "The same adults as `adhd`, labelled by marijuana use. " + _AAL,
        "fcon_1000.projects.nitrc.org/indi/ACPI/html/acpi_mta_1.html",
        ("The paper's Table 2 has the columns ADHD and ADHDM exchanged (D13).",),
    ),
    "ohsu": (
        "Functional MRI graphs of the ADHD-200 site Oregon Health & Science University.",
        _GRAND,
        _CRADDOCK,
    ),
    "pek": (
        "Functional MRI graphs of the ADHD-200 site Peking University: hyperactive-impulsive or "
        "control.",
        _GRAND,
        _CRADDOCK,
    ),
    "kki": (
        "Functional MRI graphs of the ADHD-200 site Kennedy Krieger Institute, by gender.",
        _GRAND,
        ("Which class is female and which male is not stated; 0 is taken as female.", *_CRADDOCK),
    ),
}


def brain_card(name: str, sizes: str) -> Card:
    """The card of one of the paper's seven data sets."""
    description, origin, caveats = _BRAIN[name]
    return Card(
        source=f"{REPOSITORY} (commit {COMMIT[:10]}), folder data/",
        licence=_NO_LICENCE,
        citation=f"{_PAPER} Original data: {origin}",
        description=description,
        sizes=sizes,
        caveats=(*caveats, _TRAINED),
    )
