"""Neural q in plain PyTorch: q(y|P) and q(w|y,P), learned from samples of a function alone (A-NeSI).

Needs nothing but torch. To read in this order:

- problem.py: what q is told of a problem; beliefs.py: what beliefs are
- model.py: the interface of a model, and how to bring a network of your own
- mlp.py, scan.py, scan_explanation.py, transducer.py: the architectures
- pruning.py, search.py: symbolic pruning, samples, beam search, explanations
- priors.py, dirichlet.py: where training beliefs come from
- amortized.py: Algorithm 1 (how q learns) and Algorithm 2 (what perception learns from it); observed.py: kinds of labels;
  solutions.py: the policy ``solutions``
- options.py, architectures.py: everything by name
"""

from .amortized import Amortized, Exercise, Partners
from .architectures import ARCHITECTURES, make_model, make_prior
from .dirichlet import DirichletFit, FittedDirichlet
from .mlp import Mlp, MlpOptions
from .model import InferenceModel, Ranked, Rollout, SequenceModel, Stepwise
from .observed import Labels, counted_log_prob, observed_log_prob
from .options import Options, Rate, with_settings
from .priors import Certain, Dirichlet, FixedDirichlet, Observed, Prior
from .problem import UNSET, Problem, Pruner, ReadingOrder, Step
from .pruning import log_prob
from .scan import Scan, ScanOptions
from .scan_explanation import ScanExplanation
from .search import JointBeam, Samples, beam_search, explain, greedy, joint_beam_search, sample
from .transducer import Transducer, TransducerExplanation, TransducerOptions

__all__ = [
    "ARCHITECTURES",
    "Amortized",
    "Certain",
    "Dirichlet",
    "DirichletFit",
    "Exercise",
    "FittedDirichlet",
    "FixedDirichlet",
    "InferenceModel",
    "JointBeam",
    "Labels",
    "Mlp",
    "MlpOptions",
    "Observed",
    "Options",
    "Partners",
    "Prior",
    "Problem",
    "Pruner",
    "Ranked",
    "Rate",
    "ReadingOrder",
    "Rollout",
    "Samples",
    "Scan",
    "ScanExplanation",
    "ScanOptions",
    "SequenceModel",
    "Step",
    "Stepwise",
    "Transducer",
    "TransducerExplanation",
    "TransducerOptions",
    "UNSET",
    "beam_search",
    "counted_log_prob",
    "explain",
    "greedy",
    "joint_beam_search",
    "log_prob",
    "make_model",
    "make_prior",
    "observed_log_prob",
    "sample",
    "with_settings",
]
