#!/usr/bin/env python3
"""How quick and how steady `anesi serve` is.

    build/release/anesi train mnist-add --set task.digits=15 --out runs/fifteen
    bench/serve.py build/release/anesi runs/fifteen [--seconds 60] [--clients 50] [--hostile 10000] [--core 0]

Prints one JSON object: milliseconds from a click to a new explanation, answered on one core (--core) and one thread; those of many
clients at once, with memory before and after; and what many hostile requests left behind. Loopback alone.
"""

import argparse
import http.client
import json
import os
import pathlib
import statistics
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests/program"))
from serving import HOST, JSON, Hostile, Served  # noqa: E402


def milliseconds(times):
    ordered = sorted(times)
    at = lambda share: round(1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))], 2)
    return {"requests": len(ordered), "median": at(0.5), "p99": at(0.99), "most": at(1)}


def timed(connection, method, target, body=None):
    begin = time.perf_counter()
    connection.request(method, target, body, JSON if body else {})
    answer = connection.getresponse()
    answer.read()
    return time.perf_counter() - begin, answer.status


def clicks(served, test_examples):
    """A variable is fixed, or an output is asked about: what a click on the page asks for."""
    connection = http.client.HTTPConnection(HOST, served.port, timeout=60)
    times = {}
    for name, extra in (("explain", {}), ("condition", {"known": {"0": 1}}), ("predict", {}), ("rollout", {})):
        for index in range(110):
            question = {"input": {"index": index % test_examples}, **extra}
            took, status = timed(connection, "POST", f"/api/{name}", json.dumps(question))
            assert status == 200, (name, index, status)
            if index >= 10:
                times.setdefault(name, []).append(took)
    times["page"] = [timed(connection, "GET", "/")[0] for _ in range(100)]
    times["run"] = [timed(connection, "GET", "/api/run")[0] for _ in range(100)]
    return {name: milliseconds(taken) for name, taken in times.items()}


def many_clients(served, clients, seconds, test_examples):
    """Each asks again as soon as it has its answer, as pages do that people click on without a pause."""
    times, errors, memory = [], [], []
    end = time.time() + seconds

    def client(number):
        connection = http.client.HTTPConnection(HOST, served.port, timeout=60)
        turn = number
        while time.time() < end:
            turn += 7
            question = json.dumps({"input": {"index": turn % test_examples}})
            method, target, body = [("POST", "/api/explain", question), ("POST", "/api/predict", question), ("GET", "/api/run", None),
                                    ("GET", f"/api/input?index={turn % test_examples}", None), ("GET", "/", None)][turn % 5]
            try:
                took, status = timed(connection, method, target, body)
            except (OSError, http.client.HTTPException) as error:
                errors.append(repr(error))
                connection.close()
                continue
            times.append(took)
            if status != 200:
                errors.append(f"{target}: {status}")

    threads = [threading.Thread(target=client, args=(number,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    while time.time() < end:
        memory.append(served.memory())
        time.sleep(min(1, seconds / 10))
    for thread in threads:
        thread.join()
    quarter = max(1, len(memory) // 4)
    return {"clients": clients, "seconds": seconds, **milliseconds(times), "errors": len(errors), "first_errors": errors[:3],
            "memory_mb": {"after a quarter": round(statistics.mean(memory[quarter:2 * quarter]), 1),
                          "at the end": round(statistics.mean(memory[-quarter:]), 1)}}


def hostile(served, count):
    """One after another from several clients, with some slow senders beside them."""
    run = json.dumps(served.get("/api/run"))
    connection = http.client.HTTPConnection(HOST, served.port, timeout=60)
    question = json.dumps({"input": {"index": 0}})
    usual = statistics.median(timed(connection, "POST", "/api/predict", question)[0] for _ in range(30))
    connection.close()
    before, statuses, leaks, lock, left = served.memory(), {}, [], threading.Lock(), iter(range(count))

    def client(seed):
        source = Hostile(served.port, seed)
        kinds = source.kinds()
        while True:
            with lock:
                number = next(left, None)
            if number is None:
                return
            kind = kinds[number % len(kinds)]
            request = source.make(kind)
            if number % 200 == 0:  # a slow sender: it never ends its request
                request = request[:30]
            try:
                said = served.raw(request, wait=1)
            except OSError as error:
                said = repr(error).encode()
            status = said[9:12].decode("latin-1") if said.startswith(b"HTTP/1.1 ") else "closed" if not said else "none"
            with lock:
                statuses[status] = statuses.get(status, 0) + 1
                if b"root:x:" in said or b"PATH=" in said or b"anesi checkpoint" in said:
                    leaks.append(kind)

    threads = [threading.Thread(target=client, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    connection = http.client.HTTPConnection(HOST, served.port, timeout=60)
    after = statistics.median(timed(connection, "POST", "/api/predict", question)[0] for _ in range(30))
    return {"requests": count, "statuses": dict(sorted(statuses.items())), "alive": served.process.poll() is None,
            "same run": json.dumps(served.get("/api/run")) == run, "leaks": leaks,
            "a good request, ms": {"before": round(1000 * usual, 2), "after": round(1000 * after, 2)},
            "memory_mb": {"before": round(before, 1), "after": round(served.memory(), 1)}}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("run")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--hostile", type=int, default=10000)
    parser.add_argument("--core", type=int, default=0)
    parser.add_argument("--data")
    flags = parser.parse_args()
    arguments = ["--data", flags.data] if flags.data else []
    figures = {"run": flags.run, "load": os.getloadavg()[0]}
    begin = time.time()
    with Served(flags.program, flags.run, "--threads", 1, *arguments) as served:
        figures["seconds to listen"] = round(time.time() - begin, 2)
        os.sched_setaffinity(served.process.pid, {flags.core})
        for task in os.listdir(f"/proc/{served.process.pid}/task"):
            os.sched_setaffinity(int(task), {flags.core})
        test_examples = served.get("/api/run")["splits"]["test"]
        served.examples()  # what happens in the background is done
        figures["one core"] = clicks(served, test_examples)
    with Served(flags.program, flags.run, *arguments) as served:
        served.examples()
        figures["many clients"] = many_clients(served, flags.clients, flags.seconds, test_examples)
        figures["hostile"] = hostile(served, flags.hostile)
    print(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
