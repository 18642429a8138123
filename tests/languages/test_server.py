# SPDX-License-Identifier: Apache-2.0
"""The prediction server of examples/server answers many clients at once, and wrong requests with a reason."""
import concurrent.futures
import http.client
import json
import os
import pathlib
import subprocess
import sys

import numpy
import pytest

SERVER = pathlib.Path(os.environ["SOURCE"]) / "examples" / "server" / "predict_server.py"
KFE = os.environ["KFE"]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    if os.environ.get("KFE_SANITIZE"):
        pytest.skip("Python cannot load a library that was built with sanitizers")
    pytest.importorskip("sklearn")
    folder = tmp_path_factory.mktemp("server")
    for command in (["generate", "iris", "-o", "iris.csv"],
                    ["fit", "-q", "-m", "kfd", "-k", "rbf:gamma=0.2", "--learner", "knn", "iris.csv", "-o", "iris.kfe"],
                    ["predict", "-q", "iris.kfe", "iris.csv", "-o", "answers.csv"]):
        subprocess.run([KFE, *command], cwd=folder, check=True)
    process = subprocess.Popen([sys.executable, "-B", str(SERVER), str(folder / "iris.kfe"), "0"], stdout=subprocess.PIPE, text=True)
    try:
        address = process.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:"), address
        yield address.split("//")[1].rstrip("/"), folder
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def ask(host, method, path, body=None):
    connection = http.client.HTTPConnection(host, timeout=120)
    try:
        connection.request(method, path, body)
        reply = connection.getresponse()
        return reply.status, json.loads(reply.read())
    finally:
        connection.close()


def test_many_clients(server):
    host, folder = server
    rows = numpy.loadtxt(folder / "iris.csv", delimiter=",", skiprows=1, usecols=range(4))
    expected = (folder / "answers.csv").read_text().splitlines()[1:]
    parts = [list(range(k, 150, 15)) for k in range(15)]

    def one(part):
        return ask(host, "POST", "/predict", json.dumps({"rows": rows[part].tolist()}))

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(one, parts))
    for part, (status, answer) in zip(parts, answers):
        assert status == 200 and answer["labels"] == [expected[i] for i in part]
        assert len(answer["features"]) == len(part) and len(answer["features"][0]) == 2


@pytest.mark.parametrize("body, says", [("not json", "Expecting value"), ("{}", "rows"), ('{"rows": []}', "rows"), ('{"rows": [[1, 2], [3]]}', "same length"),
                                        ('{"rows": [[1, 2]]}', "4"), ('{"rows": [["a", 1, 2, 3]]}', "numbers"), ('{"rows": [[1, 2, 3, null]]}', "NaN")])
def test_wrong_requests(server, body, says):
    status, answer = ask(server[0], "POST", "/predict", body)
    assert status == 400 and says in answer["error"], answer


def test_other_paths(server):
    assert ask(server[0], "GET", "/") == (200, {"columns": 4, "method": "KFDClassifier"})
    assert ask(server[0], "GET", "/nothing")[0] == 404
    assert ask(server[0], "POST", "/nothing", "{}")[0] == 404
