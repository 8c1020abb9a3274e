"""know.loss in a LightningModule. Its checkpoints hold what q has learned, for Knowledge is a module like any other.

    pip install lightning
    python examples/python/05_lightning.py
"""

import sys
import tempfile
from collections.abc import Iterator

import torch

import anesi

try:
    import lightning  # type: ignore[import-not-found, unused-ignore]
except ModuleNotFoundError:
    print("lightning is not installed: pip install lightning")
    sys.exit()

Batch = tuple[torch.Tensor, torch.Tensor]


class Adder(lightning.LightningModule):  # type: ignore[misc, unused-ignore]
    """Reads two digits, from their sum alone."""

    def __init__(self) -> None:
        super().__init__()
        self.net = anesi.LeNet(10)
        self.know = anesi.Knowledge(lambda digits: digits.sum(1), worlds=[10, 10], outputs=[19])

    def training_step(self, batch: Batch, index: int) -> torch.Tensor:
        images, sums = batch
        loss = self.know.loss(self.net(images), sums)
        self.log("loss", loss, prog_bar=True)
        return loss

    def test_step(self, batch: Batch, index: int) -> None:
        images, sums = batch
        found = self.know.predict(self.net(images))
        self.log("right", (found.outputs == sums).double().mean(), batch_size=len(sums))

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.AdamW(self.net.parameters(), lr=0.002)


class Batches(torch.utils.data.IterableDataset[Batch]):
    """Whole batches, which is quicker than a DataLoader that puts them together from single examples."""

    def __init__(self, examples: anesi.tasks.Examples, size: int) -> None:
        self.examples, self.size = examples, size

    def __iter__(self) -> Iterator[Batch]:
        return self.examples.batches(self.size)


def main() -> None:
    lightning.seed_everything(1, verbose=False)
    task = anesi.tasks.load("sum", digits=2)
    training = torch.utils.data.DataLoader(Batches(task.train, 32), batch_size=None)
    test = torch.utils.data.DataLoader(Batches(task.test, 500), batch_size=None)
    with tempfile.TemporaryDirectory() as folder:
        trainer = lightning.Trainer(
            accelerator="cpu", max_steps=500, default_root_dir=folder, logger=False, enable_progress_bar=False
        )
        adder = Adder()
        trainer.fit(adder, training)
        trainer.save_checkpoint(f"{folder}/adder.ckpt")
        again = Adder.load_from_checkpoint(f"{folder}/adder.ckpt", weights_only=True)
        [scores] = trainer.test(again, test, verbose=False)
    print(f"sums right: {100 * scores['right']:.1f} %")


if __name__ == "__main__":
    main()
