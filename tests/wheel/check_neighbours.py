# SPDX-License-Identifier: Apache-2.0
"""Checks an installed wheel in one process with NumPy, SciPy, scikit-learn and torch, which bring their own OpenBLAS and OpenMP.

usage: python check_neighbours.py      prints what it did; torch takes part if it is installed

Several orders of imports are tried, each in a process of its own. In each, kfe, NumPy, scikit-learn and torch compute in turn, then in threads, then in
processes that are forked, spawned or started by joblib. All results must be those of a process that has kfe alone.
"""
import importlib.util
import json
import os
import subprocess
import sys

THREADS = 3
SIZE = 700  # large enough that OpenBLAS and OpenMP use several threads
MODULES = ["kfe", "numpy", "sklearn.cluster"] + (["torch"] if importlib.util.find_spec("torch") else [])


def features(seed):
    """Features and predictions of kfe. One thread, so that the bits are the same wherever it runs."""
    import kfe
    x, y = kfe.generate("waveform", n=SIZE, random_state=seed)
    model = kfe.KFDClassifier(kernel="rbf:gamma=0.05", ridge=0.1, learner="svm", n_threads=1).fit(x, y)
    return model.transform(x)


def parallel_features(seed):
    import kfe
    x, y = kfe.generate("waveform", n=SIZE, random_state=seed)
    return kfe.KFD(kernel="rbf:gamma=0.05", ridge=0.1, n_threads=THREADS).fit(x, y).transform(x)


def digest(values):
    import hashlib
    return hashlib.sha256(values.tobytes()).hexdigest()


def work(seed):
    return digest(features(seed))


def neighbours():
    """Lets the other packages use their threads."""
    import numpy as np
    from sklearn.cluster import KMeans
    from sklearn.ensemble import HistGradientBoostingClassifier
    rng = np.random.default_rng(0)
    x = rng.normal(size=(SIZE, 20))
    product = x @ x.T
    assert np.allclose(np.linalg.eigvalsh(product).sum(), np.trace(product))
    assert KMeans(3, n_init=2, random_state=0).fit(x).inertia_ > 0
    assert HistGradientBoostingClassifier(max_iter=5).fit(x, x[:, 0] > 0).score(x, x[:, 0] > 0) > 0.9
    if "torch" in MODULES:
        import torch
        torch.set_num_threads(THREADS)
        t = torch.from_numpy(x)
        assert np.allclose((t @ t.T).numpy(), product)
        assert torch.linalg.eigvalsh(t @ t.T).sum().item() > 0


def in_threads(seeds):
    from concurrent.futures import ThreadPoolExecutor
    with ThreadPoolExecutor(3) as pool:
        others = [pool.submit(neighbours) for _ in range(2)]
        found = list(pool.map(work, seeds))
        for other in others:
            other.result()
    return found


def in_processes(how, seeds):
    import multiprocessing
    with multiprocessing.get_context(how).Pool(2) as pool:
        return pool.map_async(work, seeds).get(timeout=200)


def in_joblib(seeds):
    from joblib import Parallel, delayed
    return Parallel(n_jobs=2, timeout=200)(delayed(work)(seed) for seed in seeds)


def runtimes():
    """The OpenMP and BLAS libraries that this process has."""
    names = {os.path.basename(line.split()[-1]) for line in open("/proc/self/maps") if ".so" in line}
    return sorted(name for name in names if name.startswith(("libgomp", "libomp", "libiomp", "libopenblas", "libscipy_openblas", "libmkl")))


def one_order(order):
    """Everything in this process, after importing the packages in the given order."""
    import importlib
    for name in order:
        importlib.import_module(name)
    import numpy as np
    seeds = [1, 2]
    alone = [work(seed) for seed in seeds]
    neighbours()
    found = {"after the others": [work(seed) for seed in seeds], "threads": in_threads(seeds)}
    many = parallel_features(1)
    assert np.allclose(abs(many), abs(features(1)), rtol=0, atol=1e-9 * abs(many).max()), "several threads differ from one"
    for how in "fork", "spawn":
        found[how] = in_processes(how, seeds)
    found["joblib"] = in_joblib(seeds)
    for how, digests in found.items():
        assert digests == alone, f"{how}: {digests} instead of {alone}"
    neighbours()
    return {"digests": alone, "runtimes": runtimes()}


def start(*arguments):
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("KFE", "LD_", "OMP", "OPENBLAS"))}
    done = subprocess.run([sys.executable, __file__, *arguments], capture_output=True, text=True, env=clean, timeout=900)
    if done.returncode:
        sys.exit(f"{' '.join(arguments)}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def main():
    expected = start("alone")
    others = MODULES[1:]
    for order in (MODULES, MODULES[::-1], [others[-1], "kfe", *others[:-1]], [*others, "kfe"]):
        found = start("order", *order)
        assert found["digests"] == expected, order
        print(", ".join(order) + ":", " ".join(found["runtimes"]), flush=True)
    print("same results with kfe alone and with", ", ".join(MODULES[1:]))


if __name__ == "__main__":
    if sys.argv[1:2] == ["alone"]:
        print(json.dumps([work(1), work(2)]))
    elif sys.argv[1:2] == ["order"]:
        print(json.dumps(one_order(sys.argv[2:])))
    else:
        main()
