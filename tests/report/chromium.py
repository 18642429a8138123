# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium, driven over its pipe with the DevTools protocol; needs only the standard library."""
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Chromium:
    """One page. Messages are JSON, separated by zero bytes, on file descriptors 3 (to it) and 4 (from it)."""

    def __init__(self, width=1000, height=900):
        self.profile = tempfile.mkdtemp(prefix="kfe-chromium-")
        to_read, self.to = os.pipe()
        self.back, from_write = os.pipe()

        def place_pipes():  # the two may lie on each other's numbers
            high = [os.dup(to_read), os.dup(from_write)]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self.process = subprocess.Popen(
            [PROGRAM, "--headless", "--no-sandbox", "--disable-gpu", "--use-gl=angle", "--use-angle=swiftshader",
             "--enable-unsafe-swiftshader", "--no-first-run", f"--user-data-dir={self.profile}",
             "--disable-dev-shm-usage", f"--window-size={width},{height}", "--remote-debugging-pipe", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=place_pipes, close_fds=False)
        os.close(to_read)
        os.close(from_write)
        self.number, self.buffer, self.events, self.session = 0, b"", [], None
        self.deadline = time.monotonic() + 240
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.to)
        os.close(self.back)
        shutil.rmtree(self.profile, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _receive(self):
        while b"\0" not in self.buffer:
            ready = select.select([self.back], [], [], max(0, self.deadline - time.monotonic()))[0]
            assert ready, "Chromium does not answer"
            data = os.read(self.back, 1 << 16)
            assert data, "Chromium has ended"
            self.buffer += data
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        request = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.to, json.dumps(request).encode() + b"\0")
        while True:
            message = self._receive()
            if message.get("id") == self.number:
                assert "error" not in message, message
                return message["result"]
            self.events.append(message)

    def open(self, path):
        self.call("Page.navigate", url=path.as_uri())
        self.wait("document.readyState === 'complete'")

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def wait(self, condition, seconds=60):
        end = time.monotonic() + seconds
        while not self.evaluate(f"Boolean({condition})"):
            assert time.monotonic() < end, f"this did not become true: {condition}"
            time.sleep(0.05)

    def move_to(self, x, y):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def problems(self):
        """Console errors, exceptions and errors of the browser, as texts; hints about speed are none."""
        found = []
        for event in self.events:
            about = event.get("params", {})
            if event.get("method") == "Runtime.exceptionThrown":
                found.append(json.dumps(about["exceptionDetails"])[:500])
            if event.get("method") == "Runtime.consoleAPICalled" and about["type"] in ("error", "assert"):
                found.append(json.dumps(about["args"])[:500])
            if event.get("method") == "Log.entryAdded" and about["entry"]["level"] == "error":
                found.append(about["entry"]["text"])
        return found

    def requests(self):
        return [event["params"]["request"]["url"] for event in self.events
                if event.get("method") == "Network.requestWillBeSent"]

    def screenshot(self, path):
        import base64
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", captureBeyondViewport=True)["data"]))
