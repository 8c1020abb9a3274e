"""Several processes that learn together (torchrun): what was found is shared, and q stays in step.

Whoever trains under an initialised process group needs nothing of this: Knowledge looks for it.
"""

from __future__ import annotations

from typing import Any, Callable, Mapping

import torch
import torch.distributed as dist

from . import _core


def together() -> bool:
    """Whether there are other processes."""
    return dist.is_available() and dist.is_initialized() and dist.get_world_size() > 1


def rank() -> int:
    return dist.get_rank() if together() else 0


def make_together(make: Callable[[Mapping[str, Any] | None], _core.Core]) -> _core.Core:
    """The first process asks the function; the others take what it found, and the weights that q has learned."""
    if not together():
        return make(None)
    core, failure = None, None
    message: list[Any] = [None]
    if rank() == 0:
        try:
            core = make(None)
            choice = core.choice
            choice["certificate"] = None  # it is about the first process' draws, and told there
            message = [("found", choice, core.state())]
        except BaseException as error:
            failure = error
            message = [("failed", f"{type(error).__name__}: {error}", None)]
    _meet(lambda: dist.broadcast_object_list(message, src=0))
    if failure is not None:
        raise failure
    what, choice, state = message[0]
    if what == "failed":
        raise RuntimeError(f"the first process could not make Knowledge: {choice}")
    if core is None:
        core = make(choice)
        core.load_state(state)
    return core


def make_equal(core: _core.Core) -> None:
    """All take what the first process has."""
    message: list[Any] = [core.state() if rank() == 0 else None]
    _meet(lambda: dist.broadcast_object_list(message, src=0))
    if rank() != 0:
        core.load_state(message[0])


def grow_together(core: _core.Core, wrong: torch.Tensor) -> None:
    """A memory is found again. All processes come here at the same step, since they draw and ask the same."""
    if rank() == 0:
        core.grow(wrong)
    if together():
        make_equal(core)


def join(core: _core.Core) -> bool:
    """Lets q's updates be shared. False where there is nobody to share them with."""
    if not together():
        return False
    if dist.get_backend() == "nccl":
        raise ValueError(
            'anesi computes on the CPU, where NCCL cannot meet: use init_process_group("cpu:gloo,cuda:nccl")'
        )
    core.join(dist.get_rank(), dist.get_world_size(), _add_up)
    return True


def gathered(beliefs: torch.Tensor) -> torch.Tensor:
    """The beliefs of all processes, in the order of their ranks."""
    if not together():
        return beliefs
    beliefs = beliefs.contiguous()
    size = torch.tensor([beliefs.shape[0]])
    sizes = [torch.zeros_like(size) for _ in range(dist.get_world_size())]
    _meet(lambda: dist.all_gather(sizes, size))
    counts = [int(count) for count in sizes]
    padded = beliefs.new_zeros((max(counts), *beliefs.shape[1:]))
    padded[: beliefs.shape[0]] = beliefs
    parts = [torch.empty_like(padded) for _ in counts]
    _meet(lambda: dist.all_gather(parts, padded))
    return torch.cat([part[:count] for part, count in zip(parts, counts)])


def _add_up(tensor: torch.Tensor) -> None:
    _meet(lambda: dist.all_reduce(tensor))


def _meet(what: Callable[[], Any]) -> None:
    try:
        what()
    except RuntimeError as error:
        raise RuntimeError(f"anesi: another process of the group is gone or stuck, so training ends here ({error})") from error
