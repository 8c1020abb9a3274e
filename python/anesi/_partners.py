"""Several processes that learn together (torchrun): what was found is shared, and q stays in step.

Whoever trains under an initialised process group needs nothing of this: Knowledge looks for it.

They meet in a process group of their own, by gloo, since anesi computes on the CPU whatever the network computes on. It is
left before Python ends. A worker thread of gloo may drop a tensor of Python's a moment after a meeting is over, and where
that moment comes while the interpreter shuts down, the process aborts. The default group cannot be left in time: a
DistributedDataParallel holds it to the end, though destroy_process_group was called.
"""

from __future__ import annotations

import atexit
import weakref
from typing import Any, Callable, Mapping

import torch
import torch.distributed as dist

from . import _core


def together() -> bool:
    """Whether there are other processes."""
    return dist.is_available() and dist.is_initialized() and dist.get_world_size() > 1


def rank() -> int:
    return dist.get_rank() if together() else 0


class _MeetingPlace:
    """The group of our own, beside the default group that it was made for. All processes come to it at the same time."""

    def __init__(self) -> None:
        self._group: Any = None
        self._beside: Callable[[], Any] = lambda: None

    def group(self) -> Any:
        if self._group is None or self._beside() is not dist.group.WORLD:
            self._group = dist.new_group(backend="gloo")
            self._beside = weakref.ref(dist.group.WORLD)
        return self._group

    def leave(self) -> None:
        """Waits for gloo's threads, which end with the last reference to their group."""
        if self._group is not None and dist.is_initialized() and self._beside() is dist.group.WORLD:
            dist.destroy_process_group(self._group)
        self._group = None


_place = _MeetingPlace()
atexit.register(_place.leave)


def make_together(make: Callable[[Mapping[str, Any] | None], _core.Core]) -> _core.Core:
    """The first process asks the function; the others take what it found, and the weights that q has learned."""
    if not together():
        return make(None)
    _meet(lambda group: None)  # before the first of them is long at work
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
    _meet(lambda group: dist.broadcast_object_list(message, src=0, group=group))
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
    _meet(lambda group: dist.broadcast_object_list(message, src=0, group=group))
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
    core.join(dist.get_rank(), dist.get_world_size(), _add_up)
    return True


def gathered(beliefs: torch.Tensor) -> torch.Tensor:
    """The beliefs of all processes, in the order of their ranks."""
    if not together():
        return beliefs
    beliefs = beliefs.contiguous()
    size = torch.tensor([beliefs.shape[0]])
    sizes = [torch.zeros_like(size) for _ in range(dist.get_world_size())]
    _meet(lambda group: dist.all_gather(sizes, size, group=group))
    counts = [int(count) for count in sizes]
    padded = beliefs.new_zeros((max(counts), *beliefs.shape[1:]))
    padded[: beliefs.shape[0]] = beliefs
    parts = [torch.empty_like(padded) for _ in counts]
    _meet(lambda group: dist.all_gather(parts, padded, group=group))
    return torch.cat([part[:count] for part, count in zip(parts, counts)])


def _add_up(tensor: torch.Tensor) -> None:
    _meet(lambda group: dist.all_reduce(tensor, group=group))


def _meet(what: Callable[[Any], Any]) -> None:
    try:
        what(_place.group())
    except RuntimeError as error:
        raise RuntimeError(f"anesi: another process of the group is gone or stuck, so training ends here ({error})") from error
