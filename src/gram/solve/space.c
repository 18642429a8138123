/* SPDX-License-Identifier: Apache-2.0 */
/* Long vectors in host memory; krylov.c computes with them. */
#include "gram/solve/space.h"

#include <cblas.h>
#include <string.h>

#include "core/memory.h"
#include "linalg/basis.h"

static double *host_of(kfe_i_span v)
{
    return v.memory->host + v.first;
}

static kfe_status allocate(kfe_i_space *space, int64_t columns, kfe_i_long *out)
{
    kfe_status status = KFE_OK;

    *out = (kfe_i_long){0};
    KFE_ALLOC(space->gram->ctx, out->host, space->n * columns);
cleanup:
    return status;
}

static void release(const kfe_i_space *space, kfe_i_long *memory)
{
    kfe_i_free(space->gram->ctx, memory->host);
}

static kfe_status inner(kfe_i_space *space, kfe_i_span a, kfe_i_span b, double *out)
{
    kfe_i_inner_products(space->n, kfe_i_strided(host_of(a), a.count, a.stride),
                         kfe_i_strided(host_of(b), b.count, b.stride), out);
    return KFE_OK;
}

/* Rows that one thread combines at once. OpenBLAS copies its operands into memory that it never frees; the copy of a few rows is small and
 * stays in cache. */
enum { COMBINED_ROWS = 512 };

static kfe_status combine(kfe_i_space *space, double alpha, kfe_i_span a, const double *s, int64_t stride,
                          double beta, kfe_i_span c)
{
    int64_t n = space->n;

#pragma omp parallel for num_threads(kfe_context_threads(space->gram->ctx)) if (n > COMBINED_ROWS)
    for (int64_t row = 0; row < n; row += COMBINED_ROWS) {
        int64_t rows = n - row < COMBINED_ROWS ? n - row : COMBINED_ROWS;
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)rows, (blasint)c.count,
                    (blasint)a.count, alpha, host_of(a) + row * a.stride, (blasint)a.stride, s,
                    (blasint)stride, beta, host_of(c) + row * c.stride, (blasint)c.stride);
    }
    return KFE_OK;
}

static kfe_status copy(kfe_i_space *space, kfe_i_span from, kfe_i_span to)
{
    kfe_i_copy_block(space->n, from.count, host_of(from), from.stride, host_of(to), to.stride);
    return KFE_OK;
}

static kfe_status times(kfe_i_space *space, int fast, kfe_i_span v, kfe_i_span out)
{
    return fast ? kfe_i_gram_times_single(space->gram, host_of(v), v.count, host_of(out))
                : kfe_i_gram_times(space->exact, host_of(v), v.count, host_of(out));
}

static kfe_status squares(kfe_i_space *space, kfe_i_span v, double *out)
{
    memset(out, 0, (size_t)v.count * sizeof *out);
    for (int64_t i = 0; i < space->n; i++)
        for (int64_t j = 0; j < v.count; j++)
            out[j] += host_of(v)[i * v.stride + j] * host_of(v)[i * v.stride + j];
    return KFE_OK;
}

static kfe_status put(kfe_i_space *space, const double *from, kfe_i_span to)
{
    kfe_i_copy_block(space->n, to.count, from, to.count, host_of(to), to.stride);
    return KFE_OK;
}

static kfe_status get(kfe_i_space *space, kfe_i_span from, double *to)
{
    kfe_i_copy_block(space->n, from.count, host_of(from), from.stride, to, from.count);
    return KFE_OK;
}

static kfe_status agree(kfe_i_space *space, kfe_status status)
{
    (void)space;
    return status;
}

static void close_space(kfe_i_space *space)
{
    (void)space;
}

static const kfe_i_space_calls on_host = {.allocate = allocate,
                                          .release = release,
                                          .inner = inner,
                                          .combine = combine,
                                          .copy = copy,
                                          .times = times,
                                          .squares = squares,
                                          .put = put,
                                          .get = get,
                                          .agree = agree,
                                          .close = close_space};

kfe_status kfe_i_space_open(const kfe_i_gram *gram, const kfe_i_gram *exact, kfe_i_space *out)
{
    *out = (kfe_i_space){.calls = &on_host, .gram = gram, .exact = exact, .n = gram->size};
    return KFE_OK;
}

void kfe_i_space_close(kfe_i_space *space)
{
    if (space->calls)
        space->calls->close(space);
    *space = (kfe_i_space){0};
}

void kfe_i_long_free(const kfe_i_space *space, kfe_i_long *memory)
{
    if (memory->host || memory->address)
        space->calls->release(space, memory);
    *memory = (kfe_i_long){0};
}
