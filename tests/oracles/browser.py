"""A browser without a window, driven over a pipe: real pointers, which find what they press as those of a reader do."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from itertools import count

import pytest

BROWSER = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
)
needs_browser = pytest.mark.skipif(BROWSER is None, reason="no browser on this machine")


class Browser:
    """One page in a browser; `file` is opened as soon as it is given to `open`.

    The browser reads commands of its DevTools protocol from file descriptor 3, and answers on 4.
    """

    def __init__(self, profile, touch=False):
        (theirs_in, self.out), (self.into, theirs_out) = os.pipe(), os.pipe()
        flags = "--headless --no-sandbox --disable-gpu --remote-debugging-pipe --window-size=1200,1050"
        shell = f'exec "$0" {flags} --user-data-dir="$1" 3<&{theirs_in} 4>&{theirs_out}'
        self.process = subprocess.Popen(
            ["bash", "-c", shell, BROWSER, str(profile)], pass_fds=(theirs_in, theirs_out), stderr=subprocess.DEVNULL
        )
        os.close(theirs_in), os.close(theirs_out)
        self.numbers, self.read, self.session, self.touch, self.events = count(1), b"", None, touch, []
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.send("Page.enable")
        if touch:
            self.send("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=1)
            self.send("Emulation.setDeviceMetricsOverride", width=412, height=900, deviceScaleFactor=2, mobile=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.out), os.close(self.into)

    def _next(self):
        """The next message of the browser."""
        while b"\0" not in self.read:
            more = os.read(self.into, 1 << 16)
            assert more, "the browser has gone"
            self.read += more
        message, _, self.read = self.read.partition(b"\0")
        return json.loads(message)

    def send(self, method, **params):
        """The answer to a command."""
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == number:
                assert "error" not in answer, answer
                return answer["result"]
            self.events.append(answer.get("method"))

    def open(self, file):
        """Load a page, and wait until it is there."""
        self.events.clear()
        self.send("Page.navigate", url=file.as_uri())
        while "Page.loadEventFired" not in self.events:
            self.events.append(self._next().get("method"))

    def value(self, expression):
        """What an expression is on the page."""
        answer = self.send("Runtime.evaluate", expression=f"({expression})", returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def drag(self, start, stop):
        """Press at a point of the window, move in two steps, and let go: by finger or by mouse."""
        middle = [0.5 * (a + b) for a, b in zip(start, stop, strict=True)]
        if self.touch:
            kinds = [("touchStart", start), ("touchMove", middle), ("touchMove", stop), ("touchEnd", None)]
            for kind, at in kinds:
                points = [] if at is None else [{"x": at[0], "y": at[1]}]
                self.send("Input.dispatchTouchEvent", type=kind, touchPoints=points)
            return
        kinds = [("mousePressed", start), ("mouseMoved", middle), ("mouseMoved", stop), ("mouseReleased", stop)]
        for kind, (x, y) in kinds:
            button = {"button": "left", "clickCount": 1} if kind != "mouseMoved" else {"buttons": 1}
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, **button)
