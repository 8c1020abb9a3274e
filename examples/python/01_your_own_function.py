"""Your own function, your own network, your own loop: trained, asked, checked, saved and loaded.

    python examples/python/01_your_own_function.py

Three sensors each stand in a cold, mild or hot place and give eight noisy readings. No band is labelled. All that is
known of an example is whether the alarm went off, which it does where two or more are hot.
"""
# mypy: untyped-calls-exclude=torch

import torch

import anesi


def alarm(bands: torch.Tensor) -> torch.Tensor:
    """Bands, int64 [n, 3] (0 cold, 1 mild, 2 hot), to whether the alarm goes off, [n]."""
    return (bands == 2).sum(1) >= 2


def draw(examples: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Readings, [examples, 3, 8], around -1, 0 or 1, and alarms, [examples]."""
    bands = torch.randint(3, (examples, 3))
    readings = (bands - 1).unsqueeze(2) + 0.8 * torch.randn(examples, 3, 8)
    return readings, alarm(bands).long()


def main() -> None:
    torch.manual_seed(1)
    readings, alarms = draw(2000)
    new_readings, new_alarms = draw(500)

    know = anesi.Knowledge(alarm, worlds=[3, 3, 3], outputs=[2])  # prints what it found

    net = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.ReLU(), torch.nn.Linear(32, 3))
    optimizer = torch.optim.AdamW(net.parameters(), lr=0.003)
    for _ in range(20):
        for rows in torch.randperm(len(readings)).view(-1, 20):
            loss = know.loss(net(readings[rows]), alarms[rows])  # logits [20, 3, 3]
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    know.eval()
    logits = net(new_readings).detach()
    found = know.predict(logits)
    right = (found.outputs[:, 0] == new_alarms).double().mean().item()
    print(f"alarms right: {100 * right:.1f} %")

    # Hot and hot is what an alarm tells. Cold and mild look the same to it, so the network may take one for the other.
    why = know.explain(logits[:1], torch.tensor([1]), top=3)
    likely = know.log_prob(logits[:1], torch.tensor([1])).exp().item()
    print(f"an alarm ({100 * likely:.1f} % likely) would mean")
    for world, probability in zip(why.worlds[0].tolist(), why.probability[0].tolist()):
        print(f"  bands {world} with probability {probability:.3f}")

    print(know.check(logits))

    know.save("alarm.anesi")
    again = anesi.load("alarm.anesi")  # a function as small as this one is saved as a table, and need not be brought
    assert isinstance(again, anesi.Knowledge)
    right = (again.predict(logits).outputs[:, 0] == new_alarms).double().mean().item()
    print(f"loaded: {100 * right:.1f} % right")


if __name__ == "__main__":
    main()
