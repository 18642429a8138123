# SPDX-License-Identifier: Apache-2.0
"""The same kernel PCA and the same ridge system written the obvious way in PyTorch, on the same GPU.

usage: gpu_peers.py [ROWS] [COLUMNS]

Times begin with data in host memory and end with the result there, after one run on few rows that is not counted.
"""
import sys
import time

import torch

RIDGE, FEATURES, CLASSES = 0.1, 10, 10


def clusters(rows, columns):
    """Ten clusters in each class, as bench/gpu_fit.c has them."""
    generator = torch.Generator().manual_seed(1)
    centres = torch.randn(10 * CLASSES, columns, generator=generator, dtype=torch.float64)
    which = torch.arange(rows) * 7919 % (10 * CLASSES)
    return centres[which] + torch.randn(rows, columns, generator=generator, dtype=torch.float64), which % CLASSES


def gram(x, gamma):
    norms = (x * x).sum(1)
    return x.mm(x.T).mul_(-2).add_(norms[:, None]).add_(norms[None, :]).clamp_(min=0).mul_(-gamma).exp_()


def solve(x, labels, gamma):
    """(K + ridge·I)B = Y by Cholesky: what hsic and kfd need."""
    x = x.cuda()
    targets = torch.nn.functional.one_hot(labels.cuda(), CLASSES).double()
    k = gram(x, gamma)
    k.diagonal().add_(RIDGE)
    return torch.cholesky_solve(targets - targets.mean(0), torch.linalg.cholesky(k)).cpu()


def kpca(x, gamma):
    """The leading eigenvectors of the centred kernel matrix, by LOBPCG, as torch has it."""
    x = x.cuda()
    k = gram(x, gamma)
    means = k.mean(0)
    k.sub_(means[:, None]).sub_(means[None, :]).add_(means.mean())
    start = torch.randn(len(x), FEATURES, dtype=torch.float64, device="cuda")
    values, vectors = torch.lobpcg(k, X=start, niter=200, tol=1e-10)
    residual = (k @ vectors - vectors * values).norm(dim=0).max() / values.max()
    return values.cpu(), float(residual)


def measure(name, work, *arguments):
    torch.cuda.empty_cache()
    torch.cuda.synchronize()
    began = time.perf_counter()
    try:
        result = work(*arguments)
        torch.cuda.synchronize()
    except torch.cuda.OutOfMemoryError:
        print(f"torch {name}: out of GPU memory", flush=True)
        return
    extra = f", residual {result[1]:.1e}" if isinstance(result, tuple) else ""
    print(f"torch {name}: {time.perf_counter() - began:.2f} s{extra}", flush=True)


def main():
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 60000
    columns = int(sys.argv[2]) if len(sys.argv) > 2 else 256
    gamma = 0.5 / columns
    few, few_labels = clusters(2000, columns)
    solve(few, few_labels, gamma)
    kpca(few, gamma)
    x, labels = clusters(rows, columns)
    measure(f"solve n={rows} d={columns} f64", solve, x, labels, gamma)
    measure(f"kpca dim {FEATURES} n={rows} d={columns} f64 by lobpcg", kpca, x, gamma)


main()
