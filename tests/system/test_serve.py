"""serve: the real program over real sockets; clients that behave, clients that do not, and a browser."""

import concurrent.futures
import http.client
import json
import random
import re
import signal
import socket
import subprocess
import time

import pytest
import webdriver
from test_translate import SRC, TGT, lines, model  # noqa: F401

TIMEOUT = 60  # of anything that is expected at once


class Server:
    def __init__(self, program, model, log, *options, env=None):
        self.log = log
        self.process = subprocess.Popen([program, "serve", "--model", model, "--port", "0", *map(str, options)], stdout=subprocess.PIPE,
                                        stderr=log.open("w"), text=True, env=env)
        said = self.process.stdout.readline()
        assert "http://" in said, (said, log.read_text())
        self.port = int(re.search(r":(\d+)/", said)[1])

    def ask(self, method, path, body=None, headers=None):
        """(status, headers, body)"""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT)
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()

    def translate(self, request, **headers):
        status, more, body = self.ask("POST", "/translate", json.dumps(request), {"Content-Type": "application/json", **headers})
        return status, more, json.loads(body)

    def raw(self, data: bytes, patience=1) -> bytes:
        """What comes back for these bytes, until the server ends the connection or is silent."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=TIMEOUT) as connection:
            connection.settimeout(patience)
            answer = b""
            try:
                connection.sendall(data)
                while part := connection.recv(65536):
                    answer += part
            except (TimeoutError, ConnectionError):
                pass
            return answer

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(TIMEOUT)


@pytest.fixture(scope="module")
def serve(program, model, tmp_path_factory):  # noqa: F811
    """serve(options...) -> Server, ended with the module."""
    servers = []

    def start(*options, **more):
        servers.append(Server(program, model, tmp_path_factory.mktemp("serve") / "log", *options, **more))
        return servers[-1]

    yield start
    for server in servers:
        server.end()


@pytest.fixture(scope="module")
def server(serve):
    return serve()


def test_one_text_and_many(server):
    status, _, answer = server.translate({"text": SRC[0], "alternatives": 3})
    assert status == 200 and answer["text"] == TGT[0] and len(answer["alternatives"]) == 3
    scores = [a["score"] for a in answer["alternatives"]]
    assert answer["alternatives"][0]["text"] == TGT[0] and scores == sorted(scores, reverse=True) and scores[0] <= 0
    status, _, answer = server.translate({"texts": [*SRC, ""], "beam": 1})
    assert status == 200 and [t["text"] for t in answer["translations"]] == [*TGT, ""]


def test_a_document_comes_sentence_by_sentence(server):
    document = "\n".join(SRC * 12)
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=TIMEOUT)
    connection.request("POST", "/translate", json.dumps({"document": document}), {"Content-Type": "application/json"})
    answer = connection.getresponse()
    assert answer.status == 200 and answer.getheader("Transfer-Encoding") == "chunked"
    got = [json.loads(line) for line in answer]
    connection.close()
    assert [g["text"] for g in got[:-1]] == TGT * 12 and [g["source"] for g in got[:-1]] == SRC * 12
    assert got[-1] == {"done": True, "sentences": len(SRC) * 12}


def test_a_document_under_way_is_answered_to_its_end(serve):
    leaving = serve("--threads", 1)
    document = "\n".join(SRC * 100)
    connection = http.client.HTTPConnection("127.0.0.1", leaving.port, timeout=TIMEOUT)
    connection.request("POST", "/translate", json.dumps({"document": document}), {"Content-Type": "application/json"})
    answer = connection.getresponse()
    assert json.loads(answer.readline())["text"] == TGT[0]
    leaving.process.send_signal(signal.SIGTERM)
    rest = [json.loads(line) for line in answer]
    connection.close()
    assert len(rest) == 100 * len(SRC) and rest[-1] == {"done": True, "sentences": 100 * len(SRC)}
    assert leaving.process.wait(TIMEOUT) == 0


def test_no_range_is_cut_out_of_an_answer(server):
    whole = server.ask("GET", "/")[2]
    for ranges in ("bytes=0-9", "bytes=-5", "bytes=2-3,5-9"):
        status, headers, body = server.ask("GET", "/", headers={"Range": ranges})
        assert status == 200 and body == whole and "Content-Range" not in headers, ranges
    as_json = {"Content-Type": "application/json", "Range": "bytes=0-3"}
    status, _, body = server.ask("POST", "/translate", json.dumps({"text": SRC[0]}), as_json)
    assert status == 200 and json.loads(body)["text"] == TGT[0]


def test_a_request_has_one_host(server):
    assert b" 200 " in server.raw(b"GET /health HTTP/1.1\r\nHost: LOCALHOST:80\r\nConnection: close\r\n\r\n").split(b"\r\n")[0]
    for first, second in [("localhost", "evil.example"), ("evil.example", "localhost"), ("localhost", "localhost")]:
        answer = server.raw(f"GET /health HTTP/1.1\r\nHost: {first}\r\nHost: {second}\r\nConnection: close\r\n\r\n".encode())
        assert b" 400 " in answer.split(b"\r\n")[0]


def test_many_clients_get_their_own_answers(server):
    def client(number):
        rng = random.Random(number)
        for _ in range(6):
            i = rng.randrange(len(SRC))
            status, _, answer = server.translate({"text": SRC[i], "beam": rng.choice([1, 4])})
            assert status == 200 and answer["text"] == TGT[i]

    with concurrent.futures.ThreadPoolExecutor(24) as pool:
        list(pool.map(client, range(24)))


def test_health_and_metrics(server):
    server.translate({"text": SRC[0]})
    status, _, body = server.ask("GET", "/health")
    assert status == 200 and json.loads(body)["status"] == "ok"
    status, headers, body = server.ask("GET", "/metrics")
    assert status == 200 and headers["Content-Type"].startswith("text/plain")
    values = {}
    for line in body.decode().splitlines():
        assert re.fullmatch(r'# (HELP|TYPE) tandem_\w+ .+|tandem_\w+(\{\w+="[^"]+"\})? [0-9.e+-]+', line), line
        if not line.startswith("#"):
            values[line.rsplit(" ", 1)[0]] = float(line.rsplit(" ", 1)[1])
    assert values["tandem_sentences_total"] >= 1 and values['tandem_requests_total{code="200"}'] >= 1
    assert values['tandem_request_seconds_bucket{le="+Inf"}'] == values["tandem_request_seconds_count"]


def test_mistakes_of_clients_have_their_status(server):
    as_json = {"Content-Type": "application/json"}
    for status, method, path, body, headers in [
            (400, "POST", "/translate", "{", as_json), (400, "POST", "/translate", "", as_json), (400, "POST", "/translate", "[]", as_json),
            (400, "POST", "/translate", '{"text": "a", "beam": 1000}', as_json), (400, "POST", "/translate", b'{"text": "\xff"}', as_json),
            (400, "POST", "/translate", "[" * 100000, as_json),
            (415, "POST", "/translate", '{"text": "a"}', {"Content-Type": "text/plain"}), (405, "GET", "/translate", None, {}),
            (405, "PUT", "/translate", None, {}), (404, "GET", "/etc/passwd", None, {}), (404, "GET", "/../../etc/passwd", None, {}),
            (404, "POST", "/nothing", "{}", as_json), (405, "POST", "/", "{}", as_json), (405, "DELETE", "/health", None, {}), (403, "GET", "/", None, {"Host": "evil.example"}),
            (413, "POST", "/translate", json.dumps({"text": "a" * 2_000_000}), as_json), (414, "GET", "/" + "a" * 5000, None, {})]:
        try:
            got, _, answer = server.ask(method, path, body, headers)
        except ConnectionError:  # it may close before it has read a body that it refuses
            assert status == 413
            continue
        assert got == status, (got, method, path, answer)
        assert "error" in json.loads(answer)


def test_a_body_that_unpacks_to_much_is_refused(server):
    import gzip
    body = gzip.compress(json.dumps({"text": "a" * 50_000_000}).encode())
    try:
        status, _, _ = server.ask("POST", "/translate", body, {"Content-Type": "application/json", "Content-Encoding": "gzip"})
    except ConnectionError:
        status = 413
    assert status in (400, 413, 415)
    assert server.translate({"text": SRC[0]})[0] == 200


def test_bytes_that_are_no_http_do_not_end_it(server):
    rng = random.Random(23)
    good = (b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 13\r\n"
            b"Connection: close\r\n\r\n" b'{"text": "a"}')
    assert b" 200 " in server.raw(good, TIMEOUT).split(b"\r\n")[0]
    cases = [b"", b"\r\n" * 10, b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x02\x00" + rng.randbytes(200), b"GET / HTTP/1.1\r\n" + b"a" * 20000,
             b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n",
             b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n\r\n",
             b"POST /translate HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
             b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: 3\r\n\r\nabc",
             b"GET /%00%ff%zz HTTP/1.1\r\nHost: localhost\r\n\r\n", b"GET / HTTP/1.1\r\nHost: localhost\r\nRange: bytes=9-1,-,5-\r\n\r\n",
             b"POST /" + b"a" * 1000 + b" HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n"]
    for _ in range(60):
        broken = bytearray(good)
        for _ in range(rng.randint(1, 8)):
            broken[rng.randrange(len(broken))] = rng.randrange(256)
        cases.append(bytes(broken[:rng.randint(1, len(broken))]))
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(server.raw, cases))
    for case, answer in zip(cases, answers):
        if answer:
            assert re.match(rb"HTTP/1\.[01] [2345]\d\d ", answer), (case, answer)
            assert not answer.startswith(b"HTTP/1.1 500"), (case, answer)
    assert server.translate({"text": SRC[0]})[2]["text"] == TGT[0]
    assert server.process.poll() is None


def test_overload_is_refused_and_recovers(serve):
    small = serve("--queue", 2, "--max-texts", 2, "--threads", 1)
    long = " ".join(SRC * 3)

    def client(_):
        return small.translate({"texts": [long, long]})

    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(client, range(48)))
    refused = [(headers, body) for status, headers, body in answers if status == 503]
    assert refused and {status for status, _, _ in answers} == {200, 503}
    assert all(headers["Retry-After"] == "1" and "busy" in body["error"] for headers, body in refused)
    assert small.translate({"text": SRC[0]})[0] == 200


def test_a_token_is_wanted_and_never_shown(serve, tmp_path):
    token = "5f0c36f9a0b1442d8e1f"
    (tmp_path / "token").write_text(token + "\n")
    guarded = serve("--token-file", tmp_path / "token")
    assert guarded.translate({"text": SRC[0]})[0] == 401
    assert guarded.translate({"text": SRC[0]}, Authorization="Bearer wrong")[0] == 401
    assert guarded.translate({"text": SRC[0]}, Authorization=f"Bearer {token}")[2]["text"] == TGT[0]
    assert guarded.ask("GET", "/health")[0] == 200 and guarded.ask("GET", "/metrics")[0] == 401
    assert guarded.end() == 0
    assert token not in guarded.log.read_text()


def test_other_machines_only_with_a_token(tandem, model, tmp_path):  # noqa: F811
    done = tandem("serve", "--model", model, "--host", "0.0.0.0", "--port", 0)
    assert done.returncode == 2 and "--token-file" in done.stderr
    (tmp_path / "token").write_text("short")
    done = tandem("serve", "--model", model, "--token-file", tmp_path / "token", "--port", 0)
    assert done.returncode == 2 and "token" in done.stderr and "short" not in done.stderr.replace("shorter", "")


def test_a_taken_port_is_named(tandem, model, server):  # noqa: F811
    done = tandem("serve", "--model", model, "--port", server.port)
    assert done.returncode == 3 and str(server.port) in done.stderr


def test_it_ends_when_told_and_answers_first(serve):
    leaving = serve("--threads", 1)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = [pool.submit(leaving.translate, {"texts": SRC * 8}) for _ in range(8)]
        until = time.monotonic() + TIMEOUT
        while json.loads(leaving.ask("GET", "/health")[2])["waiting"] == 0 and time.monotonic() < until:
            if all(a.done() for a in answers):
                break
        leaving.process.send_signal(signal.SIGTERM)
        assert leaving.process.wait(TIMEOUT) == 0
        # A client that was not accepted yet is told so by the system; nobody gets half an answer.
        whole = [a.result()[2]["translations"] for a in answers if not isinstance(a.exception(), ConnectionError)]
        assert whole and all([t["text"] for t in w] == TGT * 8 for w in whole)


def test_the_log_has_a_line_a_request_and_no_text(serve):
    own = serve()
    own.translate({"text": "secret words here"})
    own.ask("GET", "/a%0ab")
    assert own.end() == 0
    log = own.log.read_text()
    assert "secret" not in log and len(log.splitlines()) == 2
    # Written when the answer has left, so the later request may be the quicker one.
    assert re.search(r"^\d{4}-\d\d-\d\dT[\d:]+Z 127\.0\.0\.1 POST /translate 200 [\d.]+ ms$", log, re.MULTILINE), log


def wait_for(browser, script):
    until = time.monotonic() + TIMEOUT
    while time.monotonic() < until:
        if value := browser.run(script):
            return value
        time.sleep(0.05)
    pytest.fail(f"the page does not get there: {script}")


def test_the_page_translates_in_a_browser(server):
    browser = webdriver.Browser.start(600, 800)
    if isinstance(browser, str):
        pytest.skip(browser)
    try:
        browser.open(f"http://127.0.0.1:{server.port}/")
        assert browser.run("return document.activeElement.id") == "source"
        for key in SRC[1]:
            browser.command("Input.dispatchKeyEvent", type="char", text=key)
        browser.command("Input.dispatchKeyEvent", type="keyDown", key="Enter", code="Enter", modifiers=2, windowsVirtualKeyCode=13)
        rows = wait_for(browser, "const rows = [...document.querySelectorAll('#answers tbody tr')];"
                                 "return rows.length && rows.map(r => [...r.cells].map(c => c.textContent))")
        assert rows[0][0] == TGT[1] and len(rows) == 4 and float(rows[0][1]) <= 0
        browser.run("document.getElementById('source').value = '<img src=x onerror=alert(1)>';"
                    "document.getElementById('translate').click()")
        wait_for(browser, f"return document.querySelector('#answers td').textContent !== {json.dumps(TGT[1])}")
        assert browser.run("return document.querySelectorAll('img').length") == 0
        paper = "return getComputedStyle(document.body).backgroundColor"
        browser.scheme("light")
        light = browser.run(paper)
        browser.scheme("dark")
        assert browser.run(paper) != light
        browser.size(320, 700, phone=True)
        assert browser.run("return document.documentElement.scrollWidth") <= 320
        assert all(f":{server.port}/" in url or url.startswith("data:") for url in browser.requests())
        assert [entry for entry in browser.logs("browser") if entry["level"] == "SEVERE"] == []
    finally:
        browser.close()
