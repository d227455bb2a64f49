"""tandem serve with 32 clients beside offline tandem translate and transformers' own generate, at equal beam.

Clients send one sentence a request over kept connections, the next as soon as they have the answer; they run on the same cores as the
server. Loading is not counted anywhere: offline, the time of an empty input is taken off. Offline and served take turns. Processor time is that of
the program alone, without clients; it says more than elapsed time on a machine that others use, too. transformers
translates in batches of 32 sentences of similar length, and one sentence at a time, as its pipeline did unless told otherwise.
Without --model: a model that learns some sentences by heart (4 + 4 layers, width 128, post-norm), so that translations end where they should.
Usage: scripts/bench serve [--json] [--lines 2000] [--clients 32] [--beam 4] [--repeats 3] [--model POST_NORM_RUN --text FILE]
"""

import argparse
import json
import os
import pathlib
import random
import re
import selectors
import signal
import socket
import statistics
import subprocess
import tempfile
import time

import peers


def make_model(folder):
    """A model and the lines that it knows."""
    rng = random.Random(1)
    words = ["".join(rng.choices("abdegilnorstu", k=rng.randint(2, 7))) for _ in range(80)]
    lines = [" ".join(rng.choices(words, k=rng.randint(6, 16))) for _ in range(60)]
    (folder / "src").write_text("\n".join(lines) + "\n")
    (folder / "tgt").write_text("\n".join(" ".join(reversed(line.split())) for line in lines) + "\n")
    maker = pathlib.Path(peers.TANDEM).parent / "tandem_make_model"
    subprocess.run([maker, folder / "src", folder / "tgt", folder / "model", "300", "norm=post", "d_model=128", "heads=4", "ffn=256",
                    "encoder_layers=4", "decoder_layers=4"], check=True, stdout=subprocess.DEVNULL)
    return folder / "model", lines


def offline(model, lines, beam, folder):
    """Sentences a second, processor seconds."""

    def run(text):
        (folder / "input").write_text(text, encoding="utf-8")
        done = peers.run(f"{peers.TANDEM} translate --model {model} --beam {beam} < {folder / 'input'} 2>/dev/null")
        return done["seconds"], done["processor_seconds"]

    empty, whole = min(run(""), run("")), run("".join(line + "\n" for line in lines))
    return len(lines) / (whole[0] - empty[0]), whole[1] - empty[1]


class Client:
    """One kept connection with one request under way. Bytes by hand: an HTTP library would take a core of its own."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.begin, self.received = 0.0, b""

    def ask(self, line):
        body = json.dumps({"text": line}).encode()
        self.begin = time.perf_counter()
        self.socket.sendall(b"POST /translate HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
                            % len(body) + body)

    def answered(self):
        """Reads what is there; seconds of the request when its answer is whole, else None."""
        self.received += self.socket.recv(65536)
        head, end, body = self.received.partition(b"\r\n\r\n")
        if not end or len(body) < int(re.search(rb"(?i)content-length: *(\d+)", head)[1]):
            return None
        assert head.startswith(b"HTTP/1.1 200"), head
        self.received = b""
        return time.perf_counter() - self.begin


def ask_all(port, lines, clients):
    """Seconds of every request."""
    waiting, waits = iter(lines), []
    with selectors.DefaultSelector() as selector:
        for client, line in zip([Client(port) for _ in range(clients)], waiting):
            selector.register(client.socket, selectors.EVENT_READ, client)
            client.ask(line)
        while len(waits) < len(lines):
            for key, _ in selector.select():
                seconds = key.data.answered()
                if seconds is None:
                    continue
                waits.append(seconds)
                line = next(waiting, None)
                if line is None:
                    selector.unregister(key.fileobj)
                    key.fileobj.close()
                else:
                    key.data.ask(line)
    return waits


def processor_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def served(model, lines, beam, clients):
    """Sentences a second, seconds of each request, processor seconds of the server."""
    server = subprocess.Popen([peers.TANDEM, "serve", "--model", model, "--port", "0", "--beam", str(beam)], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True)
    port = int(re.search(r":(\d+)/", server.stdout.readline())[1])
    ask_all(port, lines[:1], 1)
    before, start = processor_seconds(server.pid), time.perf_counter()
    waits = ask_all(port, lines, clients)
    seconds, processor = time.perf_counter() - start, processor_seconds(server.pid) - before
    server.send_signal(signal.SIGTERM)
    server.wait()
    return len(lines) / seconds, waits, processor


def transformers_rates(model, lines, beam, folder):
    """In batches, and one at a time: sentences a second, and processor seconds of one."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    import torch
    import transformers

    transformers.logging.set_verbosity_error()
    subprocess.run([peers.TANDEM, "export", "--model", model, "--format", "huggingface", "--out", folder / "hf"], check=True,
                   stdout=subprocess.DEVNULL)
    tokenizer = transformers.MarianTokenizer.from_pretrained(folder / "hf")
    marian = transformers.MarianMTModel.from_pretrained(folder / "hf").eval()
    torch.set_num_threads(os.cpu_count())

    def rate(some, size):
        start, before = time.perf_counter(), time.process_time()
        with torch.inference_mode():
            for at in range(0, len(some), size):
                batch = tokenizer(some[at:at + size], return_tensors="pt", padding=True)
                tokenizer.batch_decode(marian.generate(**batch, num_beams=beam, max_length=batch["input_ids"].shape[1] + 50),
                                       skip_special_tokens=True)
        return len(some) / (time.perf_counter() - start), (time.process_time() - before) / len(some)

    rate(lines[:4], 4)
    return rate(sorted(lines, key=len), 32), rate(lines[:max(16, len(lines) // 16)], 1)


def measure(options, folder):
    if options.model:
        model, known = options.model, options.text.read_text(encoding="utf-8").splitlines()
    else:
        model, known = make_model(folder)
    lines = [known[i % len(known)] for i in range(options.lines)]
    rates, processor, waits = {"offline": [], "serve": []}, {"offline": [], "serve": []}, []
    for _ in range(options.repeats):
        rate, seconds = offline(model, lines, options.beam, folder)
        rates["offline"].append(rate)
        processor["offline"].append(seconds / len(lines))
        rate, more, seconds = served(model, lines, options.beam, options.clients)
        rates["serve"].append(rate)
        processor["serve"].append(seconds / len(lines))
        waits += more
    rates["transformers, batches"], rates["transformers, one by one"] = [], []
    for name, (rate, seconds) in zip(list(rates)[2:], transformers_rates(model, lines[:max(64, options.lines // 8)], options.beam, folder)):
        rates[name], processor[name] = [rate], [seconds]
    percentiles = statistics.quantiles(waits, n=100)
    return {"benchmark": "serve", "lines": options.lines, "clients": options.clients, "beam": options.beam, "cores": os.cpu_count(),
            "runs": rates, "sentences_per_second": {name: statistics.median(several) for name, several in rates.items()},
            "processor_ms": {name: 1000 * statistics.median(several) for name, several in processor.items()},
            "serve_of_offline": statistics.median(s / o for s, o in zip(rates["serve"], rates["offline"])),
            "p50_ms": 1000 * percentiles[49], "p99_ms": 1000 * percentiles[98]}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--lines", type=int, default=2000)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--beam", type=int, default=4)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--model", type=pathlib.Path)
    parser.add_argument("--text", type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        result = measure(options, pathlib.Path(name))
    if options.json:
        return print(json.dumps(result))
    print(f"{options.lines} sentences at beam {options.beam}, {options.clients} clients, {os.cpu_count()} cores, medians of {options.repeats}")
    rates = result["sentences_per_second"]
    for name, rate in rates.items():
        print(f"  {name:26} {rate:8.1f} sentences/s, {rate / rates['transformers, batches']:6.2f}x transformers in batches; "
              f"processor time {result['processor_ms'][name]:7.2f} ms a sentence")
    print(f"  serve is {result['serve_of_offline']:.3f} of offline; latency p50 {result['p50_ms']:.1f} ms, p99 {result['p99_ms']:.1f} ms")


if __name__ == "__main__":
    main()
