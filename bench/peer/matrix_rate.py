"""The matrix-product rate of this machine: the best of five products of 1,536 x 1,536 fp32 matrices. Prints GFLOP/s.
Usage: matrix_rate.py THREADS
"""

import sys
import time

import torch

torch.set_num_threads(int(sys.argv[1]))
size = 1536
a, b = torch.randn(size, size), torch.randn(size, size)
torch.mm(a, b)
best = float("inf")
for _ in range(5):
    start = time.perf_counter()
    torch.mm(a, b)
    best = min(best, time.perf_counter() - start)
print(2 * size**3 / best / 1e9)
