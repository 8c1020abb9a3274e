"""DeepProbLog's names, on :class:`anesi.problog.Knowledge`. Needs the package ``problog``.

    from anesi.deepproblog import DataLoader, Dataset, ExactEngine, Model, Network, Query, get_confusion_matrix, train_model

Modules are called as DeepProbLog's are (``anesi.deepproblog.utils.stop_condition``, …), so a script that trains and
evaluates needs ``anesi.deepproblog`` for ``deepproblog`` in its imports and nothing else. Queries of one shape share one
Knowledge, and all that a network reads in a batch goes through it at once. For new code :mod:`anesi.problog` is the
better beginning: it is a loss for a loop of your own.
"""

from .. import problog as _problog  # first, since it says what to install
from .dataset import DataLoader, Dataset, ImageDataset, MutatingDataset, NoiseMutatorDecorator, QueryDataset
from .engines import ApproximateEngine, ExactEngine
from .evaluate import get_confusion_matrix, get_fact_accuracy
from .model import Model, Result
from .network import Network
from .optimizer import Optimizer
from .query import Query
from .train import TrainObject, train_model
from .utils.confusion_matrix import ConfusionMatrix
from .utils.logger import Logger

del _problog

__all__ = [
    "ApproximateEngine",
    "ConfusionMatrix",
    "DataLoader",
    "Dataset",
    "ExactEngine",
    "ImageDataset",
    "Logger",
    "Model",
    "MutatingDataset",
    "Network",
    "NoiseMutatorDecorator",
    "Optimizer",
    "Query",
    "QueryDataset",
    "Result",
    "TrainObject",
    "get_confusion_matrix",
    "get_fact_accuracy",
    "train_model",
]
