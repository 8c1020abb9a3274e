"""What tests share: Knowledge that prints nothing, and exact answers in pure PyTorch to compare it with."""

import itertools

import torch

import anesi


def knowledge(function, worlds, outputs, **more):
    return anesi.Knowledge(function, worlds, outputs, verbose=False, **more)


class Reference:
    """p(y|P) and what follows from it, for a function of few worlds."""

    def __init__(self, function, worlds):
        self.worlds = torch.tensor(list(itertools.product(*(range(size) for size in worlds))))
        outputs = torch.as_tensor(function(self.worlds)).to(torch.int64)
        self.outputs = outputs.reshape(len(self.worlds), -1)

    def world_probs(self, beliefs):
        """[batch, worlds]; beliefs is a list of [batch, values]."""
        result = torch.ones(beliefs[0].shape[0], len(self.worlds), dtype=beliefs[0].dtype)
        for variable, belief in enumerate(beliefs):
            result = result * belief[:, self.worlds[:, variable]]
        return result

    def gives(self, outputs):
        """bool [batch, worlds]"""
        return (self.outputs.unsqueeze(0) == outputs.unsqueeze(1)).all(2)

    def log_prob(self, beliefs, outputs):
        return (self.world_probs(beliefs) * self.gives(outputs)).sum(1).log()

    def marginals(self, beliefs, outputs, variable, size):
        posterior = self.world_probs(beliefs) * self.gives(outputs)
        posterior = posterior / posterior.sum(1, keepdim=True)
        one_hot = torch.nn.functional.one_hot(self.worlds[:, variable], size).to(posterior.dtype)
        return posterior @ one_hot

    def best(self, beliefs, outputs):
        """The highest probability of a world that gives the output, [batch]."""
        return (self.world_probs(beliefs) * self.gives(outputs)).max(1).values
