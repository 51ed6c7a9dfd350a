"""The profile ``published``, registered for experiments: its methods, its reading, its classifier.

`denseflip.runs.sources` imports this module when it meets an unknown name.
"""

from __future__ import annotations

from denseflip.experiments.resolve import register_reading
from denseflip.paper.published_classifier import evaluate_published, published_oracle
from denseflip.paper.published_methods import published_distance_and_calls, published_method
from denseflip.runs.sources import Trainer, register_trainer

PUBLISHED = "published"

register_reading(PUBLISHED, published_method, published_distance_and_calls)
register_trainer(PUBLISHED, Trainer(published_oracle, evaluate_published))
