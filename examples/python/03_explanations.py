"""What a sum says of its digits: explanations, marginals, samples, and what changes once a digit is known.

    python examples/python/03_explanations.py

A network has read three digits and is not sure of two. Its beliefs are written down here; `know.predict(net(x))` and
all that follows take a network's logits in the same way.
"""

import torch

import anesi


def belief(**shares: float) -> torch.Tensor:
    """belief(d1=0.6, d7=0.4): probabilities of the ten digits."""
    values = torch.zeros(10)
    for digit, share in shares.items():
        values[int(digit[1])] = share
    return values


def main() -> None:
    know = anesi.Knowledge(lambda digits: digits.sum(1), worlds=[10, 10, 10], outputs=[28])
    beliefs = torch.stack([belief(d1=0.6, d7=0.4), belief(d3=0.5, d8=0.3, d9=0.2), belief(d5=1.0)])[None]  # [1, 3, 10]

    # Before anything is known of the sum: all worlds count, each as likely as it is.
    likely = know.predict(beliefs=beliefs, top=3)
    for outputs, probability in zip(likely.outputs[0].tolist(), likely.probability[0].tolist()):
        print(f"sum {outputs[0]}: {probability:.2f}")

    # The sum is 15. Two readings add up to that, and the label says how far to believe each.
    fifteen = torch.tensor([15])
    why = know.explain(beliefs=beliefs, outputs=fifteen)
    for world, probability in zip(why.worlds[0].tolist(), why.probability[0].tolist()):
        print(f"15 = {' + '.join(map(str, world))}: {probability:.2f}")

    # Of each digit by itself.
    first = know.marginals(beliefs=beliefs, outputs=fifteen)[0, 0]
    print(f"the first digit is 1: {first[1]:.2f}, is 7: {first[7]:.2f}")

    # The likeliest reading, and some drawn from what remains possible; each of them adds up.
    best = know.most_probable(beliefs=beliefs, outputs=fifteen)
    print(f"most probable: {best.worlds[0].tolist()}, with probability {best.log_prob.exp().item():.2f} before")
    drawn = know.sample(beliefs=beliefs, outputs=fifteen, count=1000, seed=1)[0]
    print(f"of 1,000 drawn, {(drawn.sum(1) == 15).sum()} add up, and {(drawn[:, 0] == 7).sum()} begin with 7")

    # Somebody tells the second digit: a label of a part of the world, -1 where nothing is told. p(digit and sum) over
    # p(digit) is p(sum given the digit).
    told = torch.tensor([[-1, 3, -1]])
    both = know.log_prob(beliefs=beliefs, outputs=fifteen, worlds=told).exp().item()
    print(f"15, if the second digit is 3: {both / beliefs[0, 1, 3].item():.2f}")

    # The same, asked in another way: make the belief certain.
    beliefs[0, 1] = belief(d3=1.0)
    print(f"15, once the second digit is 3: {know.log_prob(beliefs=beliefs, outputs=fifteen).exp().item():.2f}")


if __name__ == "__main__":
    main()
