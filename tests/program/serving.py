"""A running `anesi serve`, asked over sockets: what its test and its benchmark share."""

import http.client
import json
import os
import random
import select
import socket
import subprocess
import time

HOST = "127.0.0.1"
JSON = {"Content-Type": "application/json"}


class Served:
    """The program, serving a run. `with Served(program, run) as served: served.get("/api/run")`"""

    def __init__(self, program, run, *arguments, environment=None, cwd=None):
        command = [str(program), "serve", str(run), "--port", "0", "--json", *map(str, arguments)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=cwd,
                                        env=environment)
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(f"no address: {self.process.communicate(timeout=60)[1]}")
        self.address = json.loads(line)["address"]
        self.port = int(self.address.split(":")[2].split("/")[0])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.terminate()
        self.errors = self.process.communicate(timeout=60)[1]

    def ask(self, method, target, body=None, headers=None, timeout=60):
        """Status, headers and text of one answer, on a connection of its own."""
        connection = http.client.HTTPConnection(HOST, self.port, timeout=timeout)
        try:
            connection.request(method, target, body, headers or {})
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read().decode()
        finally:
            connection.close()

    def get(self, target, **headers):
        status, _, text = self.ask("GET", target, headers=headers)
        assert status == 200, (target, status, text)
        return json.loads(text)

    def post(self, target, question, expected=200):
        status, _, text = self.ask("POST", target, json.dumps(question), JSON)
        assert status == expected, (target, question, status, text)
        return json.loads(text)

    def examples(self, query=""):
        """All rows of a split, once it was looked at."""
        end = time.time() + 120
        while time.time() < end:
            found = self.get(f"/api/examples?count=200{query}")
            if found["looked_at"] == found["of"]:
                return found
            time.sleep(0.05)
        raise AssertionError("examples are not looked at")

    def raw(self, request, wait=5.0):
        """What the server says to these bytes, until it closes the connection or says nothing for so long."""
        with socket.create_connection((HOST, self.port), timeout=30) as connection:
            said = b""
            try:
                connection.sendall(request)
                while select.select([connection], [], [], wait)[0]:
                    piece = connection.recv(65536)
                    if not piece:
                        break
                    said += piece
                    if complete(said):
                        break
            except (BrokenPipeError, ConnectionResetError):
                pass
            return said

    def memory(self):
        """Resident megabytes."""
        with open(f"/proc/{self.process.pid}/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) / 1024

    def threads(self):
        return len(os.listdir(f"/proc/{self.process.pid}/task"))


def complete(said):
    head, end, body = said.partition(b"\r\n\r\n")
    if not end:
        return False
    for line in head.split(b"\r\n")[1:]:
        if line.lower().startswith(b"content-length:"):
            return len(body) >= int(line.split(b":")[1])
    return False


class Hostile:
    """Requests that nobody means well with, drawn at random: kinds() names them, make(kind) gives bytes to send."""

    def __init__(self, port, seed=0):
        self.port = port
        self.random = random.Random(seed)

    def kinds(self):
        return sorted(name[3:] for name in dir(self) if name.startswith("of_"))

    def make(self, kind):
        return getattr(self, "of_" + kind)()

    def head(self, method="GET", target="/api/run", headers=(), host=None):
        lines = [f"{method} {target} HTTP/1.1", f"Host: {host or f'127.0.0.1:{self.port}'}", *headers]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace")

    def post(self, body, target=None, headers=None, length=None):
        body = body if isinstance(body, bytes) else body.encode()
        headers = ["Content-Type: application/json"] if headers is None else headers
        target = target or "/api/" + self.random.choice(["predict", "explain", "condition", "rollout"])
        return self.head("POST", target, [*headers, f"Content-Length: {len(body) if length is None else length}"]) + body

    def of_path_traversal(self):
        up = self.random.choice(["../", "..%2f", "%2e%2e/", "..\\", "....//", "%252e%252e/", "./", "..;/", "\\..\\", "%c0%ae%c0%ae/"])
        what = self.random.choice(["etc/passwd", "proc/self/environ", "config.toml", "model/manifest.json", "result.json",
                                   "root/.bashrc", "log.jsonl", "lock"])
        start = self.random.choice(["/", "//", "/page/", "/api/", "/static/", "http://127.0.0.1/", "file:///"])
        return self.head(target=start + up * self.random.randrange(0, 12) + what)

    def of_huge_body(self):
        return self.post(b"{" + b" " * self.random.choice([1 << 20, 4 << 20]), length=self.random.choice([5 << 20, 1 << 40, 10 ** 30]))

    def of_huge_head(self):
        return self.random.choice([
            self.head(target="/" + "a" * self.random.choice([8000, 9000, 40000, 200000])),
            self.head(headers=[f"X-{n}: {'b' * 100}" for n in range(self.random.choice([90, 200, 2000]))]),
            self.head(headers=["X: " + "c" * self.random.choice([9000, 100000])]),
            b"G" * 100000,
        ])

    def of_bad_json(self):
        good = '{"input": {"index": 0}, "output": [0], "known": {"0": 1}, "top": 3}'
        cut = self.random.randrange(len(good))
        damaged = self.random.choice([good[:cut], good[cut:], good[:cut] + self.random.choice('{}[]":,\\\x00\x7f9') + good[cut + 1:],
                                      "[" * 5000, '{"a":' * 3000, "", "null", "1e999", '"\\ud800"', "\xff\xfe", good * 2])
        return self.post(damaged.encode("latin-1", "replace"))

    def of_wrong_types(self):
        value = self.random.choice([None, True, -1, 1e300, 1 << 70, "7", [], {}, [[1]], {"0": {}}, "x" * 10000, [1] * 5000, 0.5,
                                    "<script>alert(1)</script>", "\u001b[31m", "\r\nSet-Cookie: a=b"])
        question = {"input": {"split": "test", "index": 0}, "top": 3}
        where = self.random.choice(["input", "index", "split", "parts", "numbers", "part", "number", "known", "variable", "output", "top",
                                    "unknown"])
        if where in ("index", "split", "parts", "numbers"):
            question["input"][where] = value
        elif where in ("part", "number"):
            question["input"][where + "s"] = {str(self.random.randrange(99)): value}
        elif where == "variable":
            question["known"] = {str(value)[:50]: value}
        else:
            question[where] = value
        return self.post(json.dumps(question))

    def of_wrong_query(self):
        target = self.random.choice(["/api/input?index=", "/api/examples?from=", "/api/examples?count=", "/api/training?after=",
                                     "/api/examples?filter=", "/api/input?split="])
        value = self.random.choice(["-1", "1e9", "99999999999999999999", "%", "%zz", "0x10", "a" * 3000, "%00", "1&index=2", "'--",
                                    "<script>", "%0d%0aX:%20y", "NaN", ""])
        return self.head(target=target + value)

    def of_cross_origin(self):
        headers = self.random.choice([["Origin: http://evil.example"], ["Origin: null"], ["Sec-Fetch-Site: cross-site"],
                                      ["Origin: http://127.0.0.1:1"], ["Origin: https://127.0.0.1:" + str(self.port)],
                                      ["Sec-Fetch-Site: same-site"]])
        if self.random.random() < 0.5:
            return self.post('{"input": {"index": 0}}', headers=["Content-Type: application/json", *headers])
        return self.head(headers=headers)

    def of_other_host(self):
        return self.head(host=self.random.choice(["evil.example", f"evil.example:{self.port}", "127.0.0.1", "127.0.0.1:1", "", "[::1", "a" * 5000,
                                                  f"127.0.0.1:{self.port}@evil.example"]))

    def of_header_injection(self):
        odd = self.random.choice(["X: a\rSet-Cookie: b", "X : y", ": nothing", "no colon", "X: \x00", "Content-Length: -5",
                                  "Content-Length: 5\r\nContent-Length: 6", "Transfer-Encoding: chunked", f"Host: 127.0.0.1:{self.port}",
                                  "Range: bytes=" + ",".join(["0-0"] * 1500), "Expect: 100-continue", "Content-Encoding: gzip",
                                  "Connection: upgrade\r\nUpgrade: websocket", " folded: line"])
        if self.random.random() < 0.5:
            return self.post('{"input": {"index": 0}}', headers=["Content-Type: application/json", odd])
        return self.head(headers=[odd])

    def of_other_type(self):
        kind = self.random.choice(["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "", "application/jsonp"])
        return self.post("--x\r\nContent-Disposition: form-data; name=a\r\n\r\nb\r\n--x--\r\n", headers=[f"Content-Type: {kind}"])

    def of_other_method(self):
        method = self.random.choice(["PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "HEAD", "PATCH", "PRI", "get", "\x16\x03\x01"])
        return self.head(method=method, target=self.random.choice(["/", "/api/run", "/api/predict", "*", "a:b"]))

    def of_noise(self):
        return self.random.choice([bytes(self.random.randrange(256) for _ in range(200)) + b"\r\n\r\n", b"\r\n" * 100 + b"\r\n\r\n",
                                   b"GET\r\n\r\n", b"GET /\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x00" * 500 + b"\r\n\r\n"])

    def of_smuggling(self):
        inner = self.head(target="/api/run").decode("latin-1")
        return self.head("POST", "/api/predict", ["Content-Type: text/plain", f"Content-Length: {len(inner)}"]) + inner.encode("latin-1")
