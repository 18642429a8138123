# SPDX-License-Identifier: Apache-2.0
"""Latency of an exported model in ONNX Runtime beside kfe's own, for one row and for a batch, one thread each.

usage: OMP_NUM_THREADS=1 python onnx_latency.py        needs the packages kfe, numpy, scikit-learn and onnxruntime
Prints the median of single calls, in microseconds per call.
"""
import statistics
import time

import numpy as np
import onnxruntime

import kfe

CALLS = {1: 300, 1000: 20}


def median_us(call, count):
    call()
    times = []
    for _ in range(count):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return 1e6 * statistics.median(times)


def session(model, precision):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(model.to_onnx(precision=precision), options, providers=["CPUExecutionProvider"])


def main():
    x, y = kfe.generate("twonorm", random_state=1, n=2000)
    model = kfe.KOCClassifier(kernel="rbf:gamma=0.05", learner="svm", n_threads=1).fit(x, y)
    single, double = session(model, "float"), session(model, "double")
    print(f"{len(x)} support examples, {x.shape[1]} columns")
    print(f"{'rows':>6} {'kfe':>10} {'ORT double':>11} {'ORT float':>10}   us per call")
    for rows, calls in CALLS.items():
        part, part32 = np.ascontiguousarray(x[:rows]), x[:rows].astype(np.float32)
        print(f"{rows:>6} {median_us(lambda: model.predict(part), calls):>10.0f} "
              f"{median_us(lambda: double.run(['label'], {'X': part}), calls):>11.0f} "
              f"{median_us(lambda: single.run(['label'], {'X': part32}), calls):>10.0f}")


if __name__ == "__main__":
    main()
