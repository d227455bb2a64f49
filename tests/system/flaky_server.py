"""A real HTTP server on the loopback that misbehaves as told. Standard library only.

    with FlakyServer({"a.gz": b"..."}) as server:
        server.script("a.gz", Reply(drop_after=1000), Reply(status=503))  # then it behaves
        ... server.url ... server.requests ...
"""
import dataclasses
import hashlib
import http.server
import socket
import threading
import time


@dataclasses.dataclass
class Reply:
    """How one request is answered. The default is a well-behaved server with Range and ETag."""
    body: bytes | None = None          # another content than the server's, from this request on
    status: int | None = None          # an error (or other) status instead of the file
    headers: dict = dataclasses.field(default_factory=dict)
    drop_after: int | None = None      # close the connection after so many bytes of the body
    stall_after: int | None = None     # send nothing more after so many bytes, but keep the connection
    wait_after: int | None = None      # go on after so many bytes when server.release is set
    accept_ranges: bool = True         # False: Range is ignored, the whole file is sent
    check_if_range: bool = True        # False: a part is sent even of another version
    etag: str | None = "auto"          # None: no ETag
    last_modified: str | None = None
    content_length: int | str = "auto"  # a number: a lie; "none": end of the body = end of the connection
    chunked: bool = False
    content_range: str | None = None   # a lie
    shift: int = 0                     # the part begins so many bytes behind the place asked for


@dataclasses.dataclass
class Request:
    path: str
    range: str | None
    if_range: str | None


class FlakyServer:
    def __init__(self, files):
        self.files = dict(files)
        self.scripts = {}
        self.always = {}
        self.requests = []
        self.release = threading.Event()    # ends waiting replies
        self.waiting = threading.Event()    # set when a reply stalls or waits
        self._lock = threading.Lock()
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def script(self, name, *replies):
        """These replies first, one a request; then the server behaves."""
        self.scripts[name] = list(replies)

    def behave(self, name, reply):
        """This reply whenever the script has none."""
        self.always[name] = reply

    def ranges(self, name):
        return [r.range for r in self.requests if r.path == "/" + name]

    def __enter__(self):
        # Polls often, so that shutting down does not cost half a second a test.
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self.release.set()
        self._server.shutdown()
        self._server.server_close()

    def next_reply(self, name):
        with self._lock:
            script = self.scripts.get(name)
            reply = script.pop(0) if script else self.always.get(name, Reply())
            if reply.body is not None:
                self.files[name] = reply.body
            return reply

    def _handler(self):
        flaky = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                name = self.path.lstrip("/")
                reply = flaky.next_reply(name)
                flaky.requests.append(
                    Request(self.path, self.headers.get("Range"), self.headers.get("If-Range")))
                try:
                    if reply.status:
                        self.answer_status(reply)
                    elif name not in flaky.files:
                        self.answer_status(Reply(status=404))
                    else:
                        self.answer_file(flaky.files[name], reply)
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True

            def answer_status(self, reply):
                self.send_response(reply.status)
                for key, value in reply.headers.items():
                    self.send_header(key, value)
                self.send_header("Content-Length", "6")
                self.end_headers()
                self.wfile.write(b"sorry\n")

            def answer_file(self, contents, reply):
                etag = '"%s"' % hashlib.md5(contents).hexdigest() if reply.etag == "auto" else reply.etag
                begin = self.first_byte(contents, reply, etag)
                body = contents[begin:]
                self.send_response(206 if begin else 200)
                if etag:
                    self.send_header("ETag", etag)
                if reply.last_modified:
                    self.send_header("Last-Modified", reply.last_modified)
                if begin:
                    self.send_header("Content-Range", reply.content_range
                                     or f"bytes {begin}-{len(contents) - 1}/{len(contents)}")
                if reply.chunked:
                    self.send_header("Transfer-Encoding", "chunked")
                elif reply.content_length == "none":
                    self.send_header("Connection", "close")
                    self.close_connection = True
                else:
                    length = len(body) if reply.content_length == "auto" else reply.content_length
                    self.send_header("Content-Length", str(length))
                for key, value in reply.headers.items():
                    self.send_header(key, value)
                self.end_headers()
                self.send_body(body, reply)

            def first_byte(self, contents, reply, etag):
                wanted = self.headers.get("Range")
                if not wanted or not reply.accept_ranges:
                    return 0
                validator = self.headers.get("If-Range")
                if reply.check_if_range and validator not in (None, etag, reply.last_modified):
                    return 0
                begin = int(wanted.removeprefix("bytes=").removesuffix("-")) + reply.shift
                return begin if begin < len(contents) else 0

            def send_body(self, body, reply):
                if reply.chunked:
                    self.send_chunks(body, reply)
                    return
                cut = next((n for n in (reply.drop_after, reply.stall_after, reply.wait_after)
                            if n is not None), len(body))
                self.wfile.write(body[:cut])
                self.wfile.flush()
                if reply.drop_after is not None:
                    self.hang_up()
                elif reply.stall_after is not None or reply.wait_after is not None:
                    flaky.waiting.set()
                    flaky.release.wait(30)
                    if reply.wait_after is not None:
                        self.wfile.write(body[cut:])
                    else:
                        self.hang_up()
                elif len(body) != reply.content_length and isinstance(reply.content_length, int):
                    self.hang_up()

            def send_chunks(self, body, reply):
                for at in range(0, len(body), 10_000):
                    if reply.drop_after is not None and at >= reply.drop_after:
                        self.hang_up()
                        return
                    piece = body[at:at + 10_000]
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                self.wfile.write(b"0\r\n\r\n")

            def hang_up(self):
                time.sleep(0.01)  # what was sent arrives before the end does
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)

        return Handler
