# SPDX-License-Identifier: Apache-2.0
"""Serve a model over HTTP, with Python's standard library only.

usage: python predict_server.py MODEL [PORT]        PORT 0 takes a free one; the address is printed

    GET  /            what the model takes and gives
    POST /predict     {"rows": [[1.5, 2.0], ...]} -> {"labels": [...], "features": [[...], ...]}

Requests are answered by threads of one process, which share the model: fitted models are only read. A request that is wrong is
answered with status 400 and {"error": "..."}; the server goes on.
"""
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import kfe
import numpy as np

LARGEST_REQUEST = 16 << 20  # bytes


def answer(model, request):
    """The answer to a request, both as dicts. ValueError says what is wrong with the request."""
    if not isinstance(request, dict) or not isinstance(request.get("rows"), list) or not request["rows"]:
        raise ValueError('the request is {"rows": [[number, ...], ...]}')
    try:
        rows = np.array(request["rows"], dtype=float)
    except (TypeError, ValueError):
        raise ValueError("rows are lists of numbers, all of the same length") from None
    if rows.ndim != 2:
        raise ValueError("rows are lists of numbers, all of the same length")
    answered = {"features": model.transform(rows).tolist()}
    if hasattr(model, "predict"):
        answered["labels"] = np.asarray(model.predict(rows)).tolist()
    return answered


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model = None  # set by serve

    def reply(self, status, content):
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if status >= 400:
            self.send_header("Connection", "close")  # what is left of a wrong request is not read
            self.close_connection = True
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path == "/":
            self.reply(200, {"columns": int(self.model.n_features_in_), "method": type(self.model).__name__})
        else:
            self.reply(404, {"error": "there are GET / and POST /predict"})

    def do_POST(self):
        length = self.headers.get("Content-Length", "")
        if self.path != "/predict":
            return self.reply(404, {"error": "there are GET / and POST /predict"})
        if not length.isdigit() or int(length) > LARGEST_REQUEST:
            return self.reply(400, {"error": f"Content-Length must be a number up to {LARGEST_REQUEST}"})
        try:
            return self.reply(200, answer(self.model, json.loads(self.rfile.read(int(length)))))
        except ValueError as error:  # also wrong JSON, and whatever the model refuses
            return self.reply(400, {"error": str(error)})

    def log_message(self, *_arguments):
        pass


def serve(model, port=0):
    """A server for a fitted estimator; call serve_forever() on it."""
    return ThreadingHTTPServer(("127.0.0.1", port), type("ModelHandler", (Handler,), {"model": model}))


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    with serve(kfe.load(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) == 3 else 8080) as server:
        print(f"http://127.0.0.1:{server.server_port}/", flush=True)
        server.serve_forever()
