"""A browser for tests: Debian's chromium through chromedriver, spoken to over plain HTTP."""

import base64
import json
import re
import shutil
import subprocess
import urllib.error
import urllib.request


class Browser:
    """start() it, open() a page, run() a script in it; close() ends both processes."""

    def __init__(self, driver, port: int, width: int, height: int):
        self._driver = driver
        self._base = f"http://127.0.0.1:{port}"
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                     "--disable-background-networking", "--force-color-profile=srgb", f"--window-size={width},{height}"]
        capabilities = {"goog:chromeOptions": {"args": arguments}, "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}
        answer = self._call("POST", "/session", {"capabilities": {"alwaysMatch": capabilities}})
        self._session = f"/session/{answer['sessionId']}"

    @staticmethod
    def start(width=1280, height=1000):
        """A Browser, or a sentence that says why there is none."""
        if not shutil.which("chromedriver") or not shutil.which("chromium"):
            return "chromium and chromium-driver are not installed"
        driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for line in driver.stdout:
            if match := re.search(r"successfully on port (\d+)", line):
                try:
                    return Browser(driver, int(match[1]), width, height)
                except (urllib.error.URLError, KeyError, OSError) as error:
                    driver.kill()
                    return f"chromium does not start here: {error}"
        return "chromedriver does not start here"

    def _call(self, method, path, body=None, timeout=120):
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self._base + path, data, {"Content-Type": "application/json"}, method=method)
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            return json.load(answer)["value"]

    def open(self, path):
        self.logs("browser"), self.logs("performance")  # what came before is not about this page
        self._call("POST", self._session + "/url", {"url": path if "://" in str(path) else f"file://{path}"})

    def run(self, script, *arguments):
        return self._call("POST", self._session + "/execute/sync", {"script": script, "args": list(arguments)})

    def command(self, name, **parameters):
        """A command of Chrome's own protocol."""
        return self._call("POST", self._session + "/goog/cdp/execute", {"cmd": name, "params": parameters})

    def logs(self, kind):
        return self._call("POST", self._session + "/se/log", {"type": kind})

    def requests(self):
        """Addresses that the page asked for."""
        events = [json.loads(entry["message"])["message"] for entry in self.logs("performance")]
        return [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]

    def scheme(self, light_or_dark):
        self.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": light_or_dark}])

    def size(self, width, height, phone=False):
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=phone)

    def drag(self, from_x, to_x, y):
        """With the mouse's button held down."""
        mouse = lambda kind, x: self.command("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
        mouse("mousePressed", from_x)
        mouse("mouseMoved", (from_x + to_x) / 2)
        mouse("mouseMoved", to_x)
        mouse("mouseReleased", to_x)

    def screenshot(self, path):
        shot = self.command("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(shot["data"]))

    def close(self):
        try:
            self._call("DELETE", self._session)
        finally:
            self._driver.terminate()
            self._driver.wait(20)
