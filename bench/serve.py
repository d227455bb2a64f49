"""tandem serve with 32 clients beside offline tandem translate and transformers' own generate, at equal beam.

The model learns some sentences by heart (4 + 4 layers, width 128, post-norm), so that translations end where they
should. Clients send one sentence a request over kept connections; they run on the same cores as the server. Loading is not
counted anywhere: offline, the time of an empty input is taken off.
Usage: bench/serve.py [--json] [--lines N] [--clients N] [--beam N] [--model POST_NORM_MODEL --text FILE]
"""

import argparse
import http.client
import json
import os
import pathlib
import random
import re
import signal
import statistics
import subprocess
import tempfile
import threading
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
    def seconds(text):
        (folder / "input").write_text(text)
        return peers.run(f"{peers.TANDEM} translate --model {model} --beam {beam} < {folder / 'input'}")["seconds"]

    empty = min(seconds(""), seconds(""))
    return len(lines) / (seconds("".join(line + "\n" for line in lines)) - empty)


def served(model, lines, beam, clients):
    """Sentences a second, seconds of each request, processor seconds of the server."""
    server = subprocess.Popen([peers.TANDEM, "serve", "--model", model, "--port", "0", "--beam", str(beam)], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True)
    port = int(re.search(r":(\d+)/", server.stdout.readline())[1])
    waits, next_line, lock = [], iter(lines), threading.Lock()

    def client():
        connection = http.client.HTTPConnection("127.0.0.1", port)
        while True:
            with lock:
                line = next(next_line, None)
            if line is None:
                return connection.close()
            begin = time.perf_counter()
            connection.request("POST", "/translate", json.dumps({"text": line}), {"Content-Type": "application/json"})
            answer = connection.getresponse()
            answer.read()
            assert answer.status == 200
            waits.append(time.perf_counter() - begin)

    threads = [threading.Thread(target=client) for _ in range(clients)]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - start
    server.send_signal(signal.SIGTERM)
    _, _, usage = os.wait4(server.pid, 0)
    server.returncode = 0
    return len(lines) / seconds, waits, usage.ru_utime + usage.ru_stime


def transformers_rate(model, lines, beam, folder):
    os.environ["HF_HUB_OFFLINE"] = "1"
    import torch
    import transformers

    transformers.logging.set_verbosity_error()
    subprocess.run([peers.TANDEM, "export", "--model", model, "--format", "huggingface", "--out", folder / "hf"], check=True,
                   stdout=subprocess.DEVNULL)
    tokenizer = transformers.MarianTokenizer.from_pretrained(folder / "hf")
    marian = transformers.MarianMTModel.from_pretrained(folder / "hf").eval()
    torch.set_num_threads(os.cpu_count())
    start = time.perf_counter()
    with torch.inference_mode():
        for at in range(0, len(lines), 32):
            batch = tokenizer(lines[at:at + 32], return_tensors="pt", padding=True)
            tokenizer.batch_decode(marian.generate(**batch, num_beams=beam), skip_special_tokens=True)
    return len(lines) / (time.perf_counter() - start)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--lines", type=int, default=2000)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--beam", type=int, default=4)
    parser.add_argument("--model", type=pathlib.Path)
    parser.add_argument("--text", type=pathlib.Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        model, known = (args.model, args.text.read_text().splitlines()) if args.model else make_model(folder)
        lines = [known[i % len(known)] for i in range(args.lines)]
        rates = {"offline": offline(model, lines, args.beam, folder)}
        rates["serve"], waits, processor = served(model, lines, args.beam, args.clients)
        rates["transformers"] = transformers_rate(model, lines[:max(64, args.lines // 8)], args.beam, folder)
    percentiles = statistics.quantiles(waits, n=100)
    result = {"benchmark": "serve", "lines": args.lines, "clients": args.clients, "beam": args.beam, "cores": os.cpu_count(),
              "sentences_per_second": rates, "p50_ms": 1000 * percentiles[49], "p99_ms": 1000 * percentiles[98],
              "server_processor_seconds": processor}
    if args.json:
        return print(json.dumps(result))
    print(f"{args.lines} sentences at beam {args.beam}, {args.clients} clients, {os.cpu_count()} cores")
    for name, rate in rates.items():
        print(f"  {name:14} {rate:8.1f} sentences/s   {rate / rates['transformers']:5.2f}x transformers   {rate / rates['offline']:5.2f}x offline")
    print(f"  latency of serve: p50 {result['p50_ms']:.1f} ms, p99 {result['p99_ms']:.1f} ms; processor time {processor:.1f} s")


if __name__ == "__main__":
    main()
