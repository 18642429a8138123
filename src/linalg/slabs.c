/* SPDX-License-Identifier: Apache-2.0 */
/* Passes over tall arrays slab by slab, and the products of one slab; the pursuit methods use them. Products are made by dot
 * products with twelve sums in registers: GEMM would first copy the slab, which for few columns takes as long as the product. */
#include "linalg/slabs.h"

#include <omp.h>
#include <string.h>

#include "core/instructions.h"
#include "core/invariant.h"
#include "core/share.h"

/* Few groups make short sums, many divide evenly; these numbers are multiples of most numbers of threads. */
enum { GROUPS = 96, GROUPS_OF_MANY = 480, MANY_ROWS = 400000 };
/* Fewer rows in a slab would cost more in calls than in work. */
enum { LEAST_ROWS = 128, LANES = 8 };

static int64_t rounded_up(int64_t count, int64_t unit)
{
    return (count + unit - 1) / unit * unit;
}

kfe_i_slabs kfe_i_slabs_of(int64_t n)
{
    int64_t groups = n < MANY_ROWS ? GROUPS : GROUPS_OF_MANY;
    int64_t in_group = (n + groups * KFE_SLAB_ROWS - 1) / (groups * KFE_SLAB_ROWS);
    int64_t wanted = groups * (in_group > 0 ? in_group : 1);
    int64_t rows = rounded_up((n + wanted - 1) / wanted, LANES);
    kfe_i_slabs slabs = {.n = n, .rows = rows < LEAST_ROWS ? LEAST_ROWS : rows};

    slabs.count = (n + slabs.rows - 1) / slabs.rows;
    slabs.groups = kfe_i_least(groups, slabs.count);
    return slabs;
}

/* ---- passes ---- */

/* Sums of more numbers are added up by several threads. */
enum { SERIAL_SUMS = 1 << 16, SLICE = 64 };

static void add_groups(const kfe_i_slabs *slabs, int threads, int64_t width, const double *room, double *out)
{
#pragma omp parallel for num_threads(threads) schedule(static) if (slabs->groups * width > SERIAL_SUMS)
    for (int64_t first = 0; first < width; first += SLICE) {
        int64_t last = kfe_i_least(first + SLICE, width);
        memcpy(out + first, room + first, (size_t)(last - first) * sizeof *out);
        for (int64_t g = 1; g < slabs->groups; g++)
            for (int64_t i = first; i < last; i++)
                out[i] += room[g * width + i];
    }
}

void kfe_i_each_slab(const kfe_i_slabs *slabs, int threads, kfe_i_slab_fn run, const void *job, int64_t width,
                     double *room, double *out)
{
    assert(width >= 0 && threads > 0);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t g = 0; g < slabs->groups; g++) {
        int64_t last = slabs->count * (g + 1) / slabs->groups;
        memset(room + g * width, 0, (size_t)width * sizeof *room);
        for (int64_t s = slabs->count * g / slabs->groups; s < last; s++)
            run(job, s, omp_get_thread_num(), room + g * width);
    }
    if (slabs->groups == 0)
        memset(out, 0, (size_t)width * sizeof *out);
    else
        add_groups(slabs, threads, width, room, out);
}

/* ---- one slab ---- */

/* Columns of the left and of the right side whose products are made together: twelve sums, in registers. */
enum { MANY = 4, FEW = 3 };
/* Bytes of a cache line. */
enum { LINE = 64 };

#define KFE_BYTES 16
#define KFE_TARGET
#define KFE_NAME(f) f##_plain
#include "linalg/slab_body.h"

#if defined(__x86_64__) && !defined(KFE_PORTABLE)

#define KFE_BYTES 64
#define KFE_TARGET __attribute__((target("avx512f,avx512vl,fma")))
#define KFE_NAME(f) f##_avx512
#include "linalg/slab_body.h"

#define KFE_BYTES 32
#define KFE_TARGET __attribute__((target("avx2,fma")))
#define KFE_NAME(f) f##_avx2
#include "linalg/slab_body.h"

#define KFE_BEST(f) (kfe_i_has_avx512() ? f##_avx512 : kfe_i_has_avx2() ? f##_avx2 : f##_plain)

#else

#define KFE_BEST(f) f##_plain

#endif

void kfe_i_slab_products(int64_t rows, int64_t a_count, const double *a, int64_t b_count, const double *b,
                         double *out, int64_t stride)
{
    assert(rows % LANES == 0);
    KFE_BEST(products)(rows, a_count, a, b_count, b, out, stride);
}

void kfe_i_slab_subtract(int64_t rows, int64_t count, const double *a, const double *weights, double *v)
{
    assert(rows % LANES == 0);
    KFE_BEST(subtract)(rows, count, a, weights, v);
}

void kfe_i_slab_dots(int64_t rows, int64_t count, const float *a, const double *v, double *out)
{
    assert(rows % LANES == 0);
    KFE_BEST(dots)(rows, count, a, v, out);
}

double kfe_i_slab_narrow(int64_t rows, const double *v, float *out)
{
    assert(rows % LANES == 0);
    return KFE_BEST(narrow)(rows, v, out);
}
