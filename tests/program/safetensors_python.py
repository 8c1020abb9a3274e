"""Reads a safetensors file with the Python package of that name, which shares no code with ours.

    python tests/program/safetensors_python.py runs/a/model/weights.safetensors

Prints one JSON object, {name: {shape, dtype, sum}}, for a test to compare with what was saved. The sum is taken in
float64. NumPy has no bfloat16, so a file with BF16 tensors is not for this script.
"""

import json
import sys

import numpy
from safetensors import safe_open


def summary(path):
    with safe_open(path, framework="numpy") as file:
        tensors = {name: file.get_tensor(name) for name in sorted(file.keys())}
    return {
        name: {"shape": list(tensor.shape), "dtype": str(tensor.dtype), "sum": float(tensor.sum(dtype=numpy.float64))}
        for name, tensor in tensors.items()
    }


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: safetensors_python.py FILE")
    print(json.dumps(summary(sys.argv[1])))
