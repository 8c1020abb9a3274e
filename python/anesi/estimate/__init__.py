"""Estimators of E[g(z)] and of its gradient, in plain PyTorch: what :class:`anesi.Estimator` is made of.

Needs nothing but torch. To read in this order:

- draws.py: z and the parameters P it is drawn from; black_box.py: g
- method.py: what an estimator is; options.py: its options by name
- score_function.py, one_changed.py, reparameterised.py, exact.py: estimators that learn nothing
- learned.py: A-NeSI, through an outcome model q(r|P); outcome_model.py: what such a model is
- kernel.py, regression.py: the model that is multilinear in P; network.py: models that are networks of P
- parameter_prior.py: where a model learns
"""

from .black_box import BlackBox
from .draws import Draws, Parameters, Sources
from .exact import Exact
from .learned import Learned
from .method import Method
from .one_changed import Gumbel, Indecater
from .outcome_model import OutcomeModel
from .reparameterised import Reparameterised
from .score_function import LeaveOneOut, Reinforce

#: Estimators by name. Add your own here.
METHODS: dict[str, type[Method]] = {
    "anesi": Learned,
    "exact": Exact,
    "gumbel": Gumbel,
    "indecater": Indecater,
    "reinforce": Reinforce,
    "reparameterised": Reparameterised,
    "rloo": LeaveOneOut,
}

__all__ = ["METHODS", "BlackBox", "Draws", "Learned", "Method", "OutcomeModel", "Parameters", "Sources"]
