#!/usr/bin/env python3
"""anesi serve: what it answers is what the commands print, and whoever asks what is not theirs is refused.

    tests/program/serve_test.py build/release/anesi [unittest arguments]
"""

import base64
import concurrent.futures
import contextlib
import hashlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import time
import unittest

from program import PROGRAM, SOURCE, TINY, ProgramTest
from serving import HOST, JSON, Hostile, Served

SAVED = SOURCE / "tests/saved"
HOSTILE = int(os.environ.get("ANESI_HOSTILE", "300"))


def built_with_server():
    told = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, check=True).stdout
    return "with cpp-httplib" in told


def weights_of(run):
    return hashlib.sha256((run / "model" / "weights.safetensors").read_bytes()).hexdigest()


@unittest.skipUnless(built_with_server(), "built without cpp-httplib")
class Serve(ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.served = cls.serve(cls.run_directory)

    @classmethod
    def tearDownClass(cls):
        with cls.served:
            pass
        super().tearDownClass()

    @classmethod
    def serve(cls, run, *arguments):
        return Served(PROGRAM, run, *arguments, environment=cls.environment(), cwd=cls.folder)

    def saved(self, name):
        return self.serve(SAVED / name, "--data", SAVED / "digits")

    def printed(self, *arguments):
        result = self.call(*arguments, "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def assert_holds(self, answer, printed, where=""):
        """All that is printed is in the answer, the same but for rounding."""
        if isinstance(printed, dict):
            for key, value in printed.items():
                self.assertIn(key, answer, where)
                self.assert_holds(answer[key], value, f"{where}.{key}")
        elif isinstance(printed, list):
            self.assertEqual(len(answer), len(printed), where)
            for place, value in enumerate(printed):
                self.assert_holds(answer[place], value, f"{where}[{place}]")
        elif isinstance(printed, float):
            self.assertAlmostEqual(answer, printed, delta=1e-5 * max(1, abs(printed)), msg=where)
        else:
            self.assertEqual(answer, printed, where)

    def test_a_run_tells_what_it_is(self):
        run = self.served.get("/api/run")
        self.assertEqual((run["task"], run["state"], run["model"], run["name"]), ("mnist-add", "finished", 1, "trained"))
        self.assertEqual(run["worlds"]["domains"], [10, 10])
        self.assertEqual(run["input"]["kind"], "images")
        self.assertEqual(run["splits"], {"train": 60, "test": 20})
        self.assertEqual(run["result"]["accuracy"], self.trained["accuracy"])

    def test_every_kind_of_run_answers_as_the_commands_print(self):
        for name in ("transducer", "mlp", "pairwise", "grid", "0.2-set", "0.2-found", "exact-conditioned"):
            with self.subTest(name), self.saved(name) as served:
                run = served.get("/api/run")
                where = (SAVED / name, "--index", "1", "--data", SAVED / "digits")
                predicted = served.post("/api/predict", {"input": {"index": 1}})
                self.assert_holds(predicted, self.printed("predict", *where))
                self.assertEqual(len(predicted["beliefs"]), run["worlds"]["count"])
                explained = served.post("/api/explain", {"input": {"index": 1}})
                self.assert_holds(explained, self.printed("explain", *where))
                self.assertEqual(explained["by"], run["explains_by"])
                conditioned = served.post("/api/condition", {"input": {"index": 1}, "known": {"0": 0}})
                self.assertEqual(conditioned["beliefs"][0][0], 1)
                self.assertLessEqual(conditioned["log_prob"], 0)
                self.assertEqual(conditioned["prediction"]["world"][0], 0)
                steps = served.post("/api/rollout", {"input": {"index": 1}})["steps"]
                self.assertEqual(bool(steps), run["chooses"])
                rows = served.examples()["rows"]
                self.assertEqual(len(rows), min(200, run["splits"]["test"]))
                self.assertEqual(rows[1]["read"], predicted["read"])
                self.assertEqual(served.get("/api/training")["rows"], [])

    def test_an_output_is_written_or_a_list(self):
        written = self.served.post("/api/explain", {"input": {"index": 0}, "output": "9"})
        self.assertEqual(written["output"], "9")
        listed = self.served.post("/api/explain", {"input": {"index": 0}, "output": [0, 9]})
        self.assertEqual(listed["explanations"], written["explanations"])
        self.served.post("/api/explain", {"input": {"index": 0}, "output": "99"}, expected=400)
        self.assertTrue(self.served.post("/api/explain", {"input": {"index": 0}, "output": [1, 9]}, expected=422)["error"])

    def test_a_drawn_digit_changes_the_prediction(self):
        ask = lambda **changed: self.served.post("/api/predict", {"input": {"index": 0, **changed}})
        shown = self.served.get("/api/input?index=0")
        self.assertEqual(len(shown["parts"]), 2)
        self.assertEqual(ask(parts={"0": shown["parts"][0]})["beliefs"], ask()["beliefs"])
        self.assertIn("label", ask())
        swatches = self.served.get("/api/swatches")["values"]
        value = next(v for v, parts in enumerate(swatches) if parts and v != ask()["world"][0])
        painted = ask(parts={"0": swatches[value][0]})
        self.assertEqual(painted["world"][0], value)
        self.assertNotIn("label", painted)
        short = base64.b64encode(b"1234").decode()
        for changed in ({"parts": {"0": short}}, {"parts": {"2": shown["parts"][0]}}, {"numbers": {"0": 1}}):
            self.assertIn("error", self.served.post("/api/predict", {"input": {"index": 0, **changed}}, expected=400))

    def test_examples_are_filtered_and_sorted(self):
        every = {row["index"]: row for row in self.served.examples()["rows"]}
        self.assertEqual(sorted(every), list(range(20)))
        wrong = self.served.examples("&filter=wrong")
        self.assertEqual({row["index"] for row in wrong["rows"]}, {i for i, row in every.items() if not row["right"]})
        sure = [row["probability"] for row in wrong["rows"]]
        self.assertEqual(sure, sorted(sure, reverse=True))
        unsure = [row["probability"] for row in self.served.examples("&filter=unsure")["rows"]]
        self.assertEqual(unsure, sorted(unsure))
        some = self.served.get("/api/examples?from=5&count=3")
        self.assertEqual([row["index"] for row in some["rows"]], [5, 6, 7])
        self.assertEqual(some["total"], 20)

    def test_training_and_report_are_told(self):
        told = self.served.get("/api/training")
        self.assertEqual(told["next"], len(told["rows"]))
        self.assertEqual(self.served.get(f"/api/training?after={told['next'] - 1}")["rows"], told["rows"][-1:])
        self.assertTrue(told["charts"])
        self.assertTrue(all(chart["svg"].startswith("<svg") for chart in told["charts"]))
        end = time.time() + 120
        while (answer := self.served.ask("GET", "/api/report"))[0] == 503 and time.time() < end:
            time.sleep(0.1)
        self.assertEqual(json.loads(answer[2])["runs"][0]["result"]["accuracy"], self.trained["accuracy"])

    def test_no_answer_names_a_place_of_this_machine(self):
        for target in ("/", "/api/run", "/api/training", "/api/report", "/api/examples", "/api/input?index=999", "/nothing"):
            text = self.served.ask("GET", target)[2]
            self.assertNotIn(str(self.folder), text)
            self.assertNotIn(str(self.data), text)

    def test_answers_tell_browsers_what_they_may(self):
        for target in ("/", "/api/run", "/nothing"):
            headers = self.served.ask("GET", target)[1]
            self.assertIn("default-src 'none'; script-src 'self'", headers["Content-Security-Policy"])
            self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
            self.assertEqual(headers["Referrer-Policy"], "no-referrer")
            self.assertEqual(headers["Cross-Origin-Resource-Policy"], "same-origin")
        self.assertEqual(self.served.ask("GET", "/api/run")[1]["Cache-Control"], "no-store")

    def test_the_page_needs_nothing_from_elsewhere(self):
        page = self.served.ask("GET", "/")[2]
        for name in re.findall(r'(?:src|href)="/?([^":?#]+)"', page):
            if not name.startswith("api/"):
                status, headers, _ = self.served.ask("GET", "/" + name)
                self.assertEqual(status, 200, name)
        self.assertNotRegex(page, r"<script(?![^>]*\bsrc=)|\bon\w+=|style=\"")

    def test_statuses(self):
        ask = self.served.ask
        self.assertEqual(ask("GET", "/api/predict")[0], 405)
        self.assertEqual(ask("POST", "/api/run", "{}", JSON)[0], 405)
        self.assertEqual(ask("DELETE", "/api/run")[0], 405)
        self.assertEqual(ask("GET", "/api/nothing")[0], 404)
        self.assertEqual(ask("POST", "/api/predict", "{}", {"Content-Type": "text/plain"})[0], 415)
        self.assertEqual(ask("POST", "/api/predict", "{", JSON)[0], 400)
        self.assertEqual(ask("POST", "/api/predict", " " * (5 << 20), JSON)[0], 413)
        self.assertEqual(ask("GET", "/api/run", headers={"Host": "evil.example"})[0], 403)
        self.assertEqual(ask("GET", "/api/run", headers={"Host": f"localhost:{self.served.port}"})[0], 200)
        self.assertEqual(ask("GET", "/api/run", headers={"Origin": "http://evil.example"})[0], 403)
        self.assertEqual(ask("GET", "/api/run", headers={"Origin": f"http://{HOST}:{self.served.port}"})[0], 200)
        self.assertEqual(ask("GET", "/api/run", headers={"Sec-Fetch-Site": "cross-site"})[0], 403)

    def test_a_token_is_needed_where_one_is_set(self):
        with self.serve(self.run_directory, "--token", "s3cret") as served:
            self.assertTrue(served.address.endswith("/?token=s3cret"))
            ask = lambda target, **headers: served.ask("GET", target, headers={k.replace("_", "-"): v for k, v in headers.items()})
            self.assertEqual(ask("/")[0], 401)
            self.assertEqual(ask("/api/run")[0], 401)
            self.assertEqual(ask("/api/run?token=s3cret")[0], 401)
            self.assertEqual(ask("/?token=wrong")[0], 401)
            self.assertEqual(ask("/api/run", Authorization="Bearer s3cre")[0], 401)
            self.assertEqual(ask("/api/run", Authorization="Bearer s3cret")[0], 200)
            status, headers, _ = ask("/?token=s3cret")
            self.assertEqual(status, 200)
            self.assertRegex(headers["Set-Cookie"], "HttpOnly; SameSite=Strict")
            self.assertEqual(ask("/api/run", Cookie="a=b; " + headers["Set-Cookie"].split(";")[0])[0], 200)

    def test_another_address_has_a_token_of_its_own(self):
        with self.serve(self.run_directory, "--host", "127.0.0.2") as served:
            token = re.fullmatch(r"http://127\.0\.0\.2:\d+/\?token=([0-9a-f]{32})", served.address).group(1)
            for tokens, status in (({}, 401), ({"Authorization": f"Bearer {token}"}, 200)):
                connection = http.client.HTTPConnection("127.0.0.2", served.port, timeout=60)
                connection.request("GET", "/api/run", headers=tokens)
                self.assertEqual(connection.getresponse().status, status)
                connection.close()

    def test_a_taken_port_is_an_error_of_one_line(self):
        with socket.socket() as taken:
            taken.bind((HOST, 0))
            taken.listen()
            result = self.call("serve", self.run_directory, "--port", taken.getsockname()[1])
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"^anesi: 127\.0\.0\.1:\d+: [^\n]*\n$")

    def test_signals_end_it_well(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.serve(self.run_directory) as served:
                served.get("/api/run")
                served.process.send_signal(number)
                self.assertEqual(served.process.wait(timeout=30), 0)

    def test_slow_senders_do_not_keep_others_waiting(self):
        with self.serve(self.run_directory) as served:
            served.get("/api/run")
            head = f"GET /api/run HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\nX: ".encode()
            slow = [socket.create_connection((HOST, served.port)) for _ in range(120)]
            try:
                for connection in slow:
                    connection.sendall(head)
                time.sleep(0.3)
                begin = time.time()
                self.assertEqual(served.ask("GET", "/api/run")[0], 200)
                self.assertLess(time.time() - begin, 20)
                # One that drips is cut off, however often it sends.
                end, alive = time.time() + 25, True
                while alive and time.time() < end:
                    try:
                        slow[0].sendall(b"y")
                        time.sleep(0.1)
                    except OSError:
                        alive = False
                self.assertFalse(alive)
            finally:
                for connection in slow:
                    connection.close()

    def test_hostile_requests_change_nothing(self):
        with self.serve(self.run_directory) as served:
            before = served.get("/api/run")
            hostile = Hostile(served.port, seed=int(os.environ.get("ANESI_TEST_SEED", "1")))
            kinds = hostile.kinds()
            secrets = [b"root:", b"manifest", str(self.folder).encode(), b"task.digits"]
            for number in range(HOSTILE):
                request = hostile.make(kinds[number % len(kinds)])
                said = served.raw(request, wait=2)
                for secret in secrets:
                    self.assertNotIn(secret, said.partition(b"\r\n\r\n")[2] if b"report" not in request else b"", request[:300])
                if said and not said.startswith(b"HTTP/1.1 2"):
                    self.assertRegex(said, rb"^HTTP/1\.1 [45]\d\d ", request[:300])
                    self.assertNotIn(b"HTTP/1.1 500", said, request[:300])
            self.assertIsNone(served.process.poll())
            self.assertEqual(served.get("/api/run"), before)
        self.assertEqual(served.process.returncode, 0)

    def test_many_clients_at_once(self):
        def client(number):
            with contextlib.closing(http.client.HTTPConnection(HOST, self.served.port, timeout=60)) as connection:
                for _ in range(5):
                    connection.request("POST", "/api/explain", json.dumps({"input": {"index": number % 20}}), JSON)
                    answer = connection.getresponse()
                    answer.read()
                    if answer.status != 200:
                        return answer.status
                return 200
        with concurrent.futures.ThreadPoolExecutor(30) as pool:
            self.assertEqual(set(pool.map(client, range(30))), {200})

    def test_what_follows_a_request_that_cannot_be_read_is_no_request(self):
        served = self.served
        body = b'{"input": {"index": 3}}'
        inner = (f"POST /api/predict HTTP/1.1\r\nHost: {HOST}:{served.port}\r\nContent-Type: application/json\r\n"
                 f"Content-Length: {len(body)}\r\n\r\n").encode() + body
        for first in ["POST /" + 9000 * "a" + " HTTP/1.1", "FOO / HTTP/1.1", "POST / HTTP/2.0"]:
            head = (f"{first}\r\nHost: {HOST}:{served.port}\r\nOrigin: http://evil.example\r\nContent-Type: text/plain\r\n"
                    f"Content-Length: {len(inner)}\r\n\r\n").encode()
            with socket.create_connection((HOST, served.port), timeout=20) as connection:
                connection.sendall(head + inner)
                answered = b""
                while piece := connection.recv(65536):
                    answered += piece
            self.assertNotIn(b"HTTP/1.1 200", answered, first[:20])
            self.assertEqual(answered.count(b"HTTP/1.1 "), 1, first[:20])

    def test_flags_that_make_no_sense_are_refused(self):
        for flags in (["--host", ""], ["--token", 300 * "a"], ["--page", "nowhere"]):
            result = self.call("serve", SAVED / "transducer", "--port", "0", *flags)
            self.assertEqual(result.returncode, 2, flags)
            self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)

    def test_weights_are_the_same_with_a_page(self):
        alone, watched = self.folder / "alone", self.folder / "watched"
        train = ("train", "mnist-add", *TINY, "--set", "train.epochs=400")
        result = self.call(*train, "--out", alone, "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        with socket.socket() as free:
            free.bind((HOST, 0))
            port = free.getsockname()[1]
        process = subprocess.Popen([PROGRAM, *map(str, train), "--out", str(watched), "--json", f"--serve={port}"], text=True,
                                   env=self.environment(), cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        states = set()
        while process.poll() is None:
            connection = http.client.HTTPConnection(HOST, port, timeout=10)
            try:
                connection.request("GET", "/api/run")
                states.add(json.loads(connection.getresponse().read())["state"])
            except (OSError, http.client.HTTPException):
                pass
            finally:
                connection.close()
            time.sleep(0.02)
        out, errors = process.communicate()
        self.assertEqual(process.returncode, 0, errors)
        self.assertIn("training", states)  # it was looked at while it trained
        json.loads(out)
        self.assertIn("anesi serve", errors)
        self.assertEqual(weights_of(alone), weights_of(watched))
        with self.assertRaises(OSError):
            socket.create_connection((HOST, port), timeout=5)

    def test_a_run_that_is_being_trained_is_shown(self):
        run = self.folder / "live"
        process = subprocess.Popen([PROGRAM, "train", "mnist-add", *map(str, TINY), "--set", "train.epochs=100000", "--out", str(run)],
                                   env=self.environment(), cwd=self.folder, stderr=subprocess.DEVNULL)
        try:
            end = time.time() + 120
            while not (run / "config.toml").exists() and time.time() < end:
                time.sleep(0.05)
            with self.serve(run) as served:
                seen = set()
                while len(seen) < 4 and time.time() < end:
                    told = served.get("/api/run")
                    self.assertEqual(told["state"], "training")
                    seen.add(told["model"])
                    if told["model"]:
                        self.assertTrue(served.post("/api/predict", {"input": {"index": 0}})["outputs"])
                    time.sleep(0.1)
                self.assertGreaterEqual(len(seen), 3)
                rows = served.get("/api/training")["next"]
                self.assertGreater(rows, 0)
                process.terminate()
                self.assertEqual(process.wait(timeout=120), 130)
                self.assertEqual(served.get("/api/run")["state"], "stopped")
        finally:
            process.kill()
            process.wait()


if __name__ == "__main__":
    unittest.main()
