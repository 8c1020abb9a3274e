#!/usr/bin/env python3
"""Circuits beside KLay: log-probability and gradient of a batch, on one thread.

    python3 -m venv /tmp/klay && /tmp/klay/bin/pip install torch==2.13.0 klaycircuits==0.1.2
    /tmp/klay/bin/python bench/circuits.py build/knowledge ../shared/data/constraints/{grid4-paths,permutation4}.sdd

Both count the models of the same circuit (a .sdd file; ours also reads the .vtree beside it) under the same beliefs and
give the derivatives by the logarithms of both literals of each variable. KLay runs as its users run it: a module in its
log semiring, under torch.compile as is its default, forward and backward, in float32 and in float64. Ours runs in
float64, by a program (bench/circuits.cc) that is compiled here against the library in the build folder.

Measured: median CPU milliseconds of the process for one batch, without reading and compiling, both by turns in one run.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import klay
import torch

HERE = pathlib.Path(__file__).resolve().parent
ROUNDS = 5


def compiled(build: pathlib.Path, folder: pathlib.Path) -> pathlib.Path:
    program = folder / "circuits"
    command = ["c++", "-std=c++20", "-O2", f"-I{HERE.parent}", str(HERE / "circuits.cc"), "-o", str(program)]
    subprocess.run([*command, f"-L{build}", "-lanesi_knowledge", f"-Wl,-rpath,{build}"], check=True)
    return program


class Klay:
    def __init__(self, sdd: pathlib.Path, logits: torch.Tensor, dtype: torch.dtype):
        torch.compiler.reset()
        circuit = klay.Circuit()
        circuit.add_sdd_from_file(str(sdd))  # its root is the last node
        self.module = circuit.to_torch_module(semiring="log")
        self.is_true = torch.nn.functional.logsigmoid(logits).to(dtype).requires_grad_()
        self.is_false = torch.nn.functional.logsigmoid(-logits).to(dtype).requires_grad_()
        for _ in range(10):
            self.step()

    def step(self) -> None:
        self.is_true.grad = self.is_false.grad = None
        self.log_probs = self.module(self.is_true, self.is_false)
        self.log_probs.sum().backward()

    def milliseconds(self, repeats: int) -> list[float]:
        times = []
        for _ in range(repeats):
            start = time.process_time_ns()
            self.step()
            times.append((time.process_time_ns() - start) / 1e6)
        return times

    def gradient(self) -> torch.Tensor:
        return torch.stack([self.is_false.grad, self.is_true.grad], dim=2).double().sum(0).flatten()


class Anesi:
    def __init__(self, program: pathlib.Path, sdd: pathlib.Path, logits: torch.Tensor, folder: pathlib.Path):
        path = folder / "logits"
        path.write_bytes(logits.double().contiguous().numpy().tobytes())
        self.command = [str(program), str(sdd), str(path)]

    def milliseconds(self, repeats: int) -> list[float]:
        self.answers = json.loads(subprocess.check_output([*self.command, str(repeats + 10)]))
        return self.answers["milliseconds"][10:]


def variables_of(vtree: pathlib.Path) -> int:
    return sum(line.startswith("L") for line in vtree.read_text().splitlines())


def compare(sdd: pathlib.Path, program: pathlib.Path, folder: pathlib.Path, batch: int, repeats: int) -> dict:
    logits = torch.randn([batch, variables_of(sdd.with_suffix(".vtree"))], dtype=torch.float64)
    ours = Anesi(program, sdd, logits, folder)
    theirs = {name: Klay(sdd, logits, getattr(torch, name)) for name in ("float32", "float64")}
    times: dict[str, list[float]] = {"anesi": []} | {f"KLay {name}": [] for name in theirs}
    for _ in range(ROUNDS):
        times["anesi"] += ours.milliseconds(repeats)
        for name, system in theirs.items():
            times[f"KLay {name}"] += system.milliseconds(repeats)
    reference = theirs["float64"]
    for name, found, expected in (
        ("log_probs", ours.answers["log_probs"], reference.log_probs.detach().flatten()),
        ("gradient", ours.answers["gradient"], reference.gradient()),
    ):
        error = (torch.tensor(found, dtype=torch.float64) - expected).abs().max().item()
        if error > 1e-6:
            sys.exit(f"{sdd.name}: {name} differ by {error}")
    medians = {name: statistics.median(values) for name, values in times.items()}
    return {"circuit": sdd.name, "batch": batch, "milliseconds": medians}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, help="folder with libanesi_knowledge.so")
    parser.add_argument("circuits", type=pathlib.Path, nargs="+", metavar="FILE.sdd")
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--repeats", type=int, default=50, help=f"in each of {ROUNDS} rounds")
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program = compiled(options.build.resolve(), folder)
        for sdd in options.circuits:
            print(json.dumps(compare(sdd, program, folder, options.batch, options.repeats)), flush=True)


if __name__ == "__main__":
    main()
