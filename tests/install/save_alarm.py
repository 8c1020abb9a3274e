"""Saves knowledge and a network from Python, for main.cc to load: save_alarm.py FOLDER. Prints what C++ should say."""

import sys

import torch

import anesi

torch.manual_seed(0)
know = anesi.Knowledge(lambda w: (w == 2).sum(1) >= 2, worlds=[3, 3, 3], outputs=[2], verbose=False)
net = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
readings = torch.ones(1, 3, 8)
know.save(sys.argv[1], perception=net, example=readings)
print(f"alarm with probability {know.log_prob(net(readings), torch.tensor([1])).exp().item():.6f}")
