"""manifest.json, which says what a saved model is, and the files beside it."""

from __future__ import annotations

import hashlib
import json
import os
from typing import Any, Mapping

import numpy as np
import torch

from .. import _engine
from .._files import read_text

FORMAT = 2
WEIGHTS, FOUND, MANIFEST = "weights.safetensors", "found.safetensors", "manifest.json"


def read_manifest(path: str) -> dict[str, Any]:
    """Of a model's folder, or of a run's, which has it as ``model``. RuntimeError if it is missing or damaged."""
    folder = folder_of(path)
    name = os.path.join(folder, MANIFEST)
    try:
        manifest = json.loads(read_text(name))
    except (ValueError, RecursionError) as error:
        raise RuntimeError(f"{name}: {error}; the file is damaged") from None
    try:
        return _checked(manifest, name)
    except (KeyError, TypeError, AttributeError) as error:
        raise RuntimeError(f"{name}: {error} is missing or of another kind; the file is damaged") from None


def folder_of(path: str) -> str:
    for folder in (path, os.path.join(path, "model")):
        if os.path.exists(os.path.join(folder, MANIFEST)):
            return folder
    raise RuntimeError(f"{path}: there is no saved model here; Knowledge.save() or `anesi train` makes one")


def _checked(manifest: Any, name: str) -> dict[str, Any]:
    version = manifest["format"]
    if version not in (1, FORMAT):
        raise RuntimeError(f"{name}: format {version}; this package reads formats 1 to {FORMAT}, so a later one wrote it")
    if version == 1:
        manifest = {**_completed(manifest["options"], manifest["architecture"]), **manifest}
    found = manifest.get("found", {})
    result = {
        "task": manifest.get("task", ""),
        "preset": manifest.get("preset", ""),
        "architecture": manifest["architecture"],
        "explains": manifest["explains"],
        "prunes": manifest["prunes"],
        "worlds": manifest["worlds"],
        "outputs": manifest["outputs"],
        "options": dict(manifest["options"]),
        "found": found.get("summary", ""),
        "found_sha256": found.get("sha256", ""),
        "weights_sha256": manifest["weights"]["sha256"],
    }
    texts = [result[key] for key in ("task", "preset", "architecture", "found", "found_sha256", "weights_sha256")]
    texts += result["options"].values()
    sizes = result["worlds"] + result["outputs"]
    good = all(isinstance(text, str) for text in texts) and all(type(size) is int and size > 0 for size in sizes)
    if not (good and isinstance(result["explains"], bool) and isinstance(result["prunes"], bool)):
        raise RuntimeError(f"{name}: something is of another kind; the file is damaged")
    return result


def _completed(options: dict[str, str], architecture: str) -> dict[str, Any]:
    """What a manifest of version 0.1 left to be concluded from options, whatever they are called today."""
    variant = options.get("q.variant", "predict")
    prunes = variant == "prune" or options.get("eval.prune", "false") == "true"
    return {"explains": variant != "predict" or architecture == "exact", "prunes": prunes}


def read_arrays(folder: str, file: str, sha256: str) -> dict[str, Any]:
    """RuntimeError if the file is not the one that the manifest describes."""
    path = os.path.join(folder, file)
    arrays, _ = _engine.read_safetensors(path)
    if _sha256(path) != sha256:
        raise RuntimeError(f"{path}: not what manifest.json describes (checksum differs)")
    return arrays


def write_model(
    folder: str, manifest: dict[str, Any], weights: Mapping[str, torch.Tensor], found: Mapping[str, Any], summary: str
) -> None:
    """Writes the files of a model, and a manifest with their checksums."""
    arrays = {name: np.ascontiguousarray(part.detach().numpy()) for name, part in weights.items()}
    path = os.path.join(folder, WEIGHTS)
    _engine.write_safetensors(path, arrays, {"format": "anesi"})
    if found:
        of_facts = os.path.join(folder, FOUND)
        _engine.write_safetensors(of_facts, dict(found), {"format": "anesi found"})
        manifest["found"] = {"file": FOUND, "sha256": _sha256(of_facts), "summary": summary}
    manifest["weights"] = {"file": WEIGHTS, "sha256": _sha256(path)}
    with open(os.path.join(folder, MANIFEST), "w", encoding="utf-8") as file:
        file.write(json.dumps(manifest, indent=2) + "\n")


def _sha256(path: str) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
