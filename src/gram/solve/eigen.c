/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leading eigenpairs of an operator.
 *
 * Small problems, and those that want a large part of the spectrum, go to LAPACK. The others are solved by a
 * block Krylov method with thick restarts: V (n × m) is an orthonormal basis, W = GV is kept beside it, and
 * the eigenvectors of VᵀW (Rayleigh-Ritz) give Ritz vectors Vs with residuals Ws − θVs, at no further
 * product. An iteration adds the last block of W, made orthogonal to V, and multiplies it with G; VᵀW only gains the
 * columns of that block. When V is full, its leading Ritz vectors replace it, and W likewise. A block is multiplied in one pass over the operator, at the
 * speed of GEMM; ARPACK multiplies one vector at a time and reads as many bytes for each.
 *
 * New blocks are made orthonormal by the eigenvectors of their own Gram matrix (Stathopoulos & Wu, 2002), whose
 * eigenvalues also show which directions are only rounding error; this is done twice, because once is not enough.
 *
 * A spectrum that falls slowly needs many blocks, and restarts lose part of what they found. So V has room for 25
 * blocks if these take little of the memory, else for ten. Ritz pairs of a large V take as long as a product; they are
 * computed after every third one.
 *
 * Cost: iterations·(product with b vectors) + O(n m²), memory 2nm doubles; m is 4 to 25 blocks. Iterations do
 * not allocate.
 */
#include <math.h>
#include <string.h>

#include "core/invariant.h"
#include "core/least.h"
#include "core/memory.h"
#include "core/resume.h"
#include "core/rng.h"
#include "gram/dense/basis.h"
#include "gram/dense/linalg.h"
#include "gram/device/form.h"
#include "gram/device/solve.h"
#include "gram/form/landmarks.h"
#include "gram/gram.h"
#include "gram/solve/space.h"

enum {
    DENSE_SIZE = 1000, /* below this LAPACK is as fast, and exact */
    DENSE_SHARE = 5,   /* more than a fifth of the spectrum: LAPACK */
    BLOCK_EXTRA = 6,   /* vectors beyond k in a block: they speed up the last wanted ones */
    BLOCK_LEAST = 16,
    BASIS_BLOCKS = 10,
    BASIS_BLOCKS_MOST = 25, /* if memory is plenty */
    LARGE_BLOCKS = 10,      /* a basis of this many blocks is large: */
    CHECK_EVERY = 3,        /* its Ritz pairs are computed only after this many products */
    BASIS_MOST = 640,       /* more than this beyond k only if a few blocks need it */
    BASIS_BLOCKS_LEAST = 4,
    MAX_PRODUCTS = 200
};

/* A basis of 25 blocks takes at most this share of the memory that is left. */
#define KFE_BASIS_SHARE 0.05
#define KFE_DEVICE_BASIS_SHARE 0.2
/* Inner products of an image with the basis that are below this share of the largest are rounding. */
#define KFE_COUPLING_ROUNDING 1e-11

typedef struct eigen_state {
    kfe_context *ctx;
    const kfe_i_gram *gram;
    int64_t n, k, block, capacity; /* capacity: columns of basis and image */
    int64_t size;                  /* columns in use */
    kfe_i_space space;             /* where the long vectors are */
    kfe_i_long basis, image;       /* V and W = GV, n × capacity */
    kfe_i_long candidate, product; /* n × block, packed: the new block, and G times it */
    int is_image;                  /* the new block is the image of the last one */
    kfe_i_long swap;               /* n × (k + block), packed */
    double *inner;                 /* VᵀGV, capacity × capacity */
    double *projected;             /* a copy of it, size × size, which the eigensolver destroys */
    double *ritz_values, *ritz;    /* its leading eigenvalues and vectors, size × found */
    int64_t found;                 /* as many as a restart may keep */
    double *small;                 /* capacity × capacity */
    double *residuals;             /* k + block */
    double rounding;               /* residuals below this are rounding error of the operator */
    kfe_i_eigen_work *work;
} eigen_state;

/* ---- dense ---- */

static kfe_status dense_eigen(const kfe_i_gram *gram, int64_t k, double *eigenvalues, double *vectors)
{
    kfe_status status = KFE_OK;
    double *matrix = NULL;
    int done = 0;

    KFE_TRY(kfe_i_device_dense_eigen(gram, k, eigenvalues, vectors, &done));
    if (done)
        return KFE_OK;
    KFE_TRY(kfe_i_gram_materialise(gram, &matrix));
    KFE_TRY(kfe_i_checkpoint(gram->ctx, "computing eigenvectors", 0, 0));
    KFE_TRY(kfe_i_symmetric_eigen(gram->ctx, gram->size, matrix, k, eigenvalues, vectors));
cleanup:
    kfe_i_free(gram->ctx, matrix);
    return status;
}

/* ---- the basis ---- */

static kfe_i_span basis_of(const eigen_state *s)
{
    return kfe_i_span_of(&s->basis, s->size, s->capacity);
}

static kfe_i_span image_of(const eigen_state *s)
{
    return kfe_i_span_of(&s->image, s->size, s->capacity);
}

/* The first `count` vectors of memory that is packed. */
static kfe_i_span packed(const kfe_i_long *memory, int64_t count)
{
    return kfe_i_span_of(memory, count, count);
}

/* candidate (n × count) ← its part orthogonal to the basis. */
static kfe_status project_out(eigen_state *s, int64_t count)
{
    kfe_status status = KFE_OK;

    if (s->size == 0)
        return KFE_OK;
    KFE_TRY(kfe_i_space_inner(&s->space, basis_of(s), packed(&s->candidate, count), s->small));
    KFE_TRY(
        kfe_i_space_combine(&s->space, -1, basis_of(s), s->small, count, 1, packed(&s->candidate, count)));
cleanup:
    return status;
}

/* The first vector of the basis whose inner product with the image of the last `count` vectors is more than rounding. By symmetry it
 * belongs to the block before the last one, unless that one came from a restart. */
static int64_t first_coupled(const eigen_state *s, int64_t count)
{
    int64_t first = 0;
    double largest = 0;

    for (int64_t i = 0; i < s->size; i++)
        for (int64_t j = s->size - count; j < s->size; j++)
            largest = fmax(largest, fabs(s->inner[i * s->capacity + j]));
    for (; first < s->size; first++)
        for (int64_t j = s->size - count; j < s->size; j++)
            if (!(fabs(s->inner[first * s->capacity + j]) <= KFE_COUPLING_ROUNDING * largest))
                return first;
    return first;
}

/* The same for the image of the last `count` vectors of the basis: VᵀGV already has the inner products, and those that are rounding
 * are left to the second pass. */
static kfe_status project_out_image(eigen_state *s, int64_t count)
{
    int64_t first = first_coupled(s, count);
    kfe_i_span coupled = {
        .memory = &s->basis, .first = first, .count = s->size - first, .stride = s->capacity};

    if (coupled.count == 0)
        return KFE_OK;
    return kfe_i_space_combine(&s->space, -1, coupled, s->inner + first * s->capacity + s->size - count,
                               s->capacity, 1, packed(&s->candidate, count));
}

/* candidate (n × count) ← an orthonormal basis of its columns, as many as are independent. The columns are
 * first brought to unit length, so that small directions are not mistaken for rounding. */
static kfe_status orthonormalise(eigen_state *s, int64_t *count)
{
    kfe_status status = KFE_OK;
    int64_t c = *count;
    int64_t kept = 0;
    double *inner = s->small;
    double *values = s->ritz_values;
    double *vectors = s->small + c * c;
    double *lengths = s->residuals;

    KFE_TRY(kfe_i_space_inner(&s->space, packed(&s->candidate, c), packed(&s->candidate, c), inner));
    for (int64_t j = 0; j < c; j++)
        lengths[j] = inner[j * c + j] > 0 ? 1 / sqrt(inner[j * c + j]) : 0;
    for (int64_t i = 0; i < c; i++)
        for (int64_t j = 0; j < c; j++)
            inner[i * c + j] *= lengths[i] * lengths[j];
    KFE_TRY(kfe_i_symmetric_eigen_with(s->ctx, c, inner, c, values, vectors, s->work));
    while (kept < c && values[kept] > (double)c * 1e-14 * values[0] && values[kept] > 0)
        kept++;
    for (int64_t i = 0; i < c; i++)
        for (int64_t j = 0; j < kept; j++)
            vectors[i * c + j] *= lengths[i] / sqrt(values[j]);
    *count = kept;
    if (kept == 0)
        return KFE_OK;
    KFE_TRY(
        kfe_i_space_combine(&s->space, 1, packed(&s->candidate, c), vectors, c, 0, packed(&s->swap, kept)));
    KFE_TRY(kfe_i_space_copy(&s->space, packed(&s->swap, kept), packed(&s->candidate, kept)));
cleanup:
    return status;
}

/* The last `count` rows and columns of VᵀGV, from the product. */
static kfe_status extend_inner(eigen_state *s, int64_t count)
{
    int64_t first = s->size - count;
    int64_t stride = s->capacity;
    kfe_status status = kfe_i_space_inner(&s->space, basis_of(s), packed(&s->product, count), s->small);

    for (int64_t i = 0; status == KFE_OK && i < s->size; i++)
        for (int64_t j = 0; j < count; j++) {
            double value = s->small[i * count + j];
            if (i >= first) /* the new block on the diagonal is symmetric only up to rounding */
                value = (value + s->small[(first + j) * count + i - first]) / 2;
            s->inner[i * stride + first + j] = s->inner[(first + j) * stride + i] = value;
        }
    return status;
}

/* Adds the candidates that are independent of the basis, and G times them; *count receives their number. */
static kfe_status extend(eigen_state *s, int64_t *count)
{
    kfe_status status = KFE_OK;

    for (int pass = 0; pass < 2 && *count > 0; pass++) {
        if (pass == 0 && s->is_image)
            KFE_TRY(project_out_image(s, *count));
        else
            KFE_TRY(project_out(s, *count));
        KFE_TRY(orthonormalise(s, count));
    }
    if (*count > s->capacity - s->size) {
        int64_t all = *count;
        *count = s->capacity - s->size; /* fewer columns, packed again */
        KFE_TRY(
            kfe_i_space_copy(&s->space, kfe_i_span_of(&s->candidate, *count, all), packed(&s->swap, *count)));
        KFE_TRY(kfe_i_space_copy(&s->space, packed(&s->swap, *count), packed(&s->candidate, *count)));
    }
    if (*count == 0)
        return KFE_OK;
    KFE_TRY(kfe_i_space_times(&s->space, packed(&s->candidate, *count), packed(&s->product, *count)));
    kfe_i_span place = {.memory = &s->basis, .first = s->size, .count = *count, .stride = s->capacity};
    KFE_TRY(kfe_i_space_copy(&s->space, packed(&s->candidate, *count), place));
    place.memory = &s->image;
    KFE_TRY(kfe_i_space_copy(&s->space, packed(&s->product, *count), place));
    s->size += *count;
    KFE_TRY(extend_inner(s, *count));
cleanup:
    return status;
}

/* ---- Rayleigh-Ritz ---- */

static kfe_status rayleigh_ritz(eigen_state *s)
{
    s->found = kfe_i_least(s->size, s->k + s->block);
    kfe_i_copy_block(s->size, s->size, s->inner, s->capacity, s->projected, s->size);
    return kfe_i_symmetric_eigen_with(s->ctx, s->size, s->projected, s->found, s->ritz_values, s->ritz,
                                      s->work);
}

/* swap (n × count) = W s_j − θ_j V s_j for the leading Ritz pairs; *largest is the largest norm of the first k. */
static kfe_status find_residuals(eigen_state *s, int64_t count, double *largest)
{
    kfe_status status = KFE_OK;
    int64_t m = s->size;
    kfe_i_span swap = packed(&s->swap, count);

    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < count; j++)
            s->small[i * count + j] = -s->ritz_values[j] * s->ritz[i * s->found + j];
    KFE_TRY(kfe_i_space_combine(&s->space, 1, image_of(s), s->ritz, s->found, 0, swap));
    KFE_TRY(kfe_i_space_combine(&s->space, 1, basis_of(s), s->small, count, 1, swap));
    KFE_TRY(kfe_i_space_squares(&s->space, swap, s->residuals));
    *largest = 0;
    for (int64_t j = 0; j < kfe_i_least(s->k, count); j++)
        *largest = fmax(*largest, sqrt(s->residuals[j]));
cleanup:
    return status;
}

/* Replaces the basis by its leading Ritz vectors, and the image by theirs. */
static kfe_status restart(eigen_state *s, int64_t keep)
{
    kfe_status status = KFE_OK;
    kfe_i_span swap = packed(&s->swap, keep);

    KFE_TRY(kfe_i_space_combine(&s->space, 1, basis_of(s), s->ritz, s->found, 0, swap));
    KFE_TRY(kfe_i_space_copy(&s->space, swap, kfe_i_span_of(&s->basis, keep, s->capacity)));
    KFE_TRY(kfe_i_space_combine(&s->space, 1, image_of(s), s->ritz, s->found, 0, swap));
    KFE_TRY(kfe_i_space_copy(&s->space, swap, kfe_i_span_of(&s->image, keep, s->capacity)));
    s->size = keep;
    for (int64_t i = 0; i < keep; i++)
        for (int64_t j = 0; j < keep; j++)
            s->inner[i * s->capacity + j] = i == j ? s->ritz_values[i] : 0;
cleanup:
    return status;
}

/* ---- all together ---- */

static kfe_status random_block(eigen_state *s)
{
    kfe_status status = KFE_OK;
    double *values = NULL;
    kfe_i_rng rng;

    KFE_ALLOC(s->ctx, values, s->n * s->block);
    kfe_i_rng_init(&rng, kfe_context_seed(s->ctx), KFE_STREAM_EIGEN);
    for (int64_t i = 0; i < s->n * s->block; i++)
        values[i] = kfe_i_rng_normal(&rng);
    KFE_TRY(kfe_i_space_put(&s->space, values, packed(&s->candidate, s->block)));
cleanup:
    kfe_i_free(s->ctx, values);
    return status;
}

/* The next block: the image of the last one or, after a restart, the residuals of the leading Ritz pairs. */
static kfe_status next_block(eigen_state *s, int64_t last, int64_t *count)
{
    kfe_status status = KFE_OK;
    double largest = 0;

    s->is_image = s->size + s->block <= s->capacity;
    *count = s->is_image ? last : kfe_i_least(s->block, s->size);
    if (s->is_image)
        return kfe_i_space_copy(&s->space, packed(&s->product, last), packed(&s->candidate, last));
    int64_t keep = kfe_i_least(s->k + s->block, s->size - s->block);
    KFE_TRY(find_residuals(s, *count, &largest));
    KFE_TRY(kfe_i_space_copy(&s->space, packed(&s->swap, *count), packed(&s->candidate, *count)));
    KFE_TRY(restart(s, keep));
cleanup:
    return status;
}

/* A large basis is checked after some of the products, always before a restart, when directions run out, and at the
 * end. */
static int may_skip_check(const eigen_state *s, int64_t added, int products)
{
    return added == s->block && s->size >= LARGE_BLOCKS * s->block && s->size + s->block <= s->capacity &&
           products % CHECK_EVERY != 0 && products < MAX_PRODUCTS;
}

/* The state at the beginning of an iteration. Long vectors may be on a device, so that they are saved from copies. */
typedef struct saved_vectors {
    double *basis, *image; /* n × capacity, packed to the columns in use */
    double *candidate;     /* n × block */
} saved_vectors;

static kfe_status list_state(eigen_state *s, int64_t *count, int *products, saved_vectors *copy,
                             kfe_i_loop *loop)
{
    kfe_status status = KFE_OK;

    kfe_i_loop_begin(s->ctx, "computing eigenvectors", 0, loop);
    if (loop->number < 0)
        return KFE_OK;
    KFE_ALLOC_ZERO(s->ctx, copy->basis, s->n * s->capacity);
    KFE_ALLOC_ZERO(s->ctx, copy->image, s->n * s->capacity);
    KFE_ALLOC_ZERO(s->ctx, copy->candidate, s->n * s->block);
    memset(s->inner, 0, (size_t)(s->capacity * s->capacity) * sizeof *s->inner);
    KFE_LOOP_VALUE(loop, s->size);
    KFE_LOOP_VALUE(loop, s->is_image);
    KFE_LOOP_VALUE(loop, *count);
    KFE_LOOP_VALUE(loop, *products);
    KFE_LOOP_ARRAY(loop, s->inner, s->capacity * s->capacity);
    KFE_LOOP_ARRAY(loop, copy->basis, s->n * s->capacity);
    KFE_LOOP_ARRAY(loop, copy->image, s->n * s->capacity);
    KFE_LOOP_ARRAY(loop, copy->candidate, s->n * s->block);
cleanup:
    return status;
}

static kfe_status save_state(eigen_state *s, int64_t count, const saved_vectors *copy, kfe_i_loop *loop)
{
    kfe_status status = KFE_OK;

    if (s->size == 0 || !kfe_i_loop_is_due(loop))
        return KFE_OK;
    KFE_TRY(kfe_i_space_get(&s->space, basis_of(s), copy->basis));
    KFE_TRY(kfe_i_space_get(&s->space, image_of(s), copy->image));
    KFE_TRY(kfe_i_space_get(&s->space, packed(&s->candidate, count), copy->candidate));
    KFE_TRY(kfe_i_loop_save(loop));
cleanup:
    return status;
}

static kfe_status restore_state(eigen_state *s, int64_t count, const saved_vectors *copy)
{
    kfe_status status = KFE_OK;

    KFE_TRY(kfe_i_space_put(&s->space, copy->basis, basis_of(s)));
    KFE_TRY(kfe_i_space_put(&s->space, copy->image, image_of(s)));
    KFE_TRY(kfe_i_space_put(&s->space, copy->candidate, packed(&s->candidate, count)));
cleanup:
    return status;
}

static void free_copies(kfe_context *ctx, saved_vectors *copy)
{
    kfe_i_free(ctx, copy->basis);
    kfe_i_free(ctx, copy->image);
    kfe_i_free(ctx, copy->candidate);
}

/* A bound from below of the largest eigenvalue, without its sign; Rayleigh quotients stand for the negative ones. */
static double norm_of(const eigen_state *s)
{
    double norm = fabs(s->ritz_values[0]);

    for (int64_t i = 0; i < s->size; i++)
        norm = fmax(norm, fabs(s->inner[i * s->capacity + i]));
    return norm;
}

static kfe_status iterate(eigen_state *s, double tolerance, double *reached)
{
    kfe_status status = KFE_OK;
    int64_t count = s->block;
    int products = 0;
    int converged = 0;
    int restored = 0;
    saved_vectors copy = {0};
    kfe_i_loop loop;

    KFE_TRY(list_state(s, &count, &products, &copy, &loop));
    KFE_TRY(kfe_i_loop_restore(&loop, &restored));
    KFE_TRY(restored ? restore_state(s, count, &copy) : random_block(s));
    for (;;) {
        int64_t added = count;
        KFE_TRY(save_state(s, count, &copy, &loop));
        KFE_TRY(kfe_i_checkpoint(s->ctx, "computing eigenvectors", products, 0));
        KFE_TRY(extend(s, &added));
        products++;
        if (may_skip_check(s, added, products)) {
            KFE_TRY(next_block(s, added, &count));
            continue;
        }
        KFE_TRY(rayleigh_ritz(s));
        double residual = INFINITY;
        if (s->size >= s->k)
            KFE_TRY(find_residuals(s, s->k, &residual));
        double norm = norm_of(s);
        *reached = norm > 0 ? residual / norm : 0;
        converged = *reached <= tolerance || residual <= s->rounding;
        if (converged || added == 0 || products == MAX_PRODUCTS)
            break; /* before a restart, after which the Ritz vectors would no longer belong to the basis */
        KFE_TRY(next_block(s, added, &count));
    }
    kfe_i_log(s->ctx, KFE_LOG_INFO, "eigenvectors: %d products with blocks of %lld, relative residual %.1e",
              products, (long long)s->block, *reached);
    if (!converged)
        kfe_i_log(
            s->ctx, KFE_LOG_WARNING,
            "eigenvectors: the relative residual is %.1e after %d products, not %.1e; the last features are "
            "less exact",
            *reached, products, tolerance);
cleanup:
    free_copies(s->ctx, &copy);
    return status;
}

/* Basis, image and blocks; the operator's own workspace is about another block for each thread. */
static double bytes_needed(const eigen_state *s)
{
    double blocks = (3.0 + kfe_context_threads(s->ctx)) * (double)(s->block + s->k);
    return 8.0 * (double)s->n * (2.0 * (double)s->capacity + blocks);
}

static kfe_status allocate(eigen_state *s)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = s->ctx;

    if (!s->space.device)
        KFE_TRY(kfe_i_check_memory(ctx, bytes_needed(s), "the block of eigenvectors",
                                   "raise {memory} or ask for fewer features"));
    KFE_TRY(kfe_i_long_new(&s->space, s->capacity, &s->basis));
    KFE_TRY(kfe_i_long_new(&s->space, s->capacity, &s->image));
    KFE_TRY(kfe_i_long_new(&s->space, s->block, &s->candidate));
    KFE_TRY(kfe_i_long_new(&s->space, s->block, &s->product));
    KFE_TRY(kfe_i_long_new(&s->space, s->k + s->block, &s->swap));
    KFE_ALLOC(ctx, s->inner, s->capacity * s->capacity);
    KFE_ALLOC(ctx, s->projected, s->capacity * s->capacity);
    KFE_ALLOC(ctx, s->ritz, s->capacity * s->capacity);
    KFE_ALLOC(ctx, s->small, 2 * s->capacity * s->capacity);
    KFE_ALLOC(ctx, s->ritz_values, s->capacity);
    KFE_ALLOC(ctx, s->residuals, s->k + s->block);
    KFE_TRY(kfe_i_eigen_work_new(ctx, s->capacity, &s->work));
cleanup:
    return status;
}

static void release(eigen_state *s)
{
    kfe_i_long *vectors[] = {&s->basis, &s->image, &s->candidate, &s->product, &s->swap};
    double **small[] = {&s->inner, &s->ritz, &s->projected, &s->small, &s->residuals, &s->ritz_values};

    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        kfe_i_long_free(&s->space, vectors[i]);
    for (size_t i = 0; i < sizeof small / sizeof *small; i++) {
        kfe_i_free(s->ctx, *small[i]);
        *small[i] = NULL;
    }
    kfe_i_eigen_work_free(s->work);
    s->work = NULL;
    kfe_i_space_close(&s->space);
}

static int64_t basis_beyond(int64_t block, int64_t blocks)
{
    int64_t wanted = kfe_i_least(blocks * block, BASIS_MOST);
    return wanted > BASIS_BLOCKS_LEAST * block ? wanted : BASIS_BLOCKS_LEAST * block;
}

/* Bytes that a large basis may take. On a device it may take more, because products are what costs there. */
static double memory_for_basis(const kfe_i_gram *gram)
{
    const kfe_i_device *device = kfe_i_gram_device(gram);

    return device ? KFE_DEVICE_BASIS_SHARE * kfe_i_device_room(device)
                  : KFE_BASIS_SHARE * (double)kfe_i_memory_left(gram->ctx);
}

/* A block is never narrower than k: a Krylov space holds no more copies of an eigenvalue than its first block
 * has vectors. */
static void choose_sizes(const kfe_i_gram *gram, eigen_state *s)
{
    s->block = s->k + BLOCK_EXTRA > BLOCK_LEAST ? s->k + BLOCK_EXTRA : BLOCK_LEAST;
    s->capacity = kfe_i_least(s->n, s->k + basis_beyond(s->block, BASIS_BLOCKS_MOST));
    if (bytes_needed(s) > memory_for_basis(gram))
        s->capacity = kfe_i_least(s->n, s->k + basis_beyond(s->block, BASIS_BLOCKS));
}

static kfe_status krylov_eigen(eigen_state *s, int on_device, double tolerance, double *eigenvalues,
                               double *vectors)
{
    kfe_status status = KFE_OK;
    double reached = 0;

    KFE_TRY(kfe_i_space_open(s->gram, on_device, 2 * s->capacity * s->capacity, s->block, &s->space));
    KFE_TRY(allocate(s));
    KFE_TRY(kfe_i_gram_rounding(
        kfe_i_gram_centred_inner(s->gram) ? kfe_i_gram_centred_inner(s->gram) : s->gram, &s->rounding));
    KFE_TRY(iterate(s, tolerance, &reached));
    memcpy(eigenvalues, s->ritz_values, (size_t)s->k * sizeof *eigenvalues);
    KFE_TRY(kfe_i_space_combine(&s->space, 1, basis_of(s), s->ritz, s->found, 0, packed(&s->swap, s->k)));
    KFE_TRY(kfe_i_space_get(&s->space, packed(&s->swap, s->k), vectors));
cleanup:
    return status;
}

/* The largest of ‖image_j − value_j·vector_j‖, relative to the largest value. */
static double relative_residual(int64_t n, int64_t k, const double *values, const double *vectors,
                                const double *image)
{
    double largest = 0;
    double norm = 0;

    for (int64_t j = 0; j < k; j++) {
        double sum = 0;
        for (int64_t i = 0; i < n; i++) {
            double difference = image[i * k + j] - values[j] * vectors[i * k + j];
            sum += difference * difference;
        }
        largest = fmax(largest, sqrt(sum));
        norm = fmax(norm, fabs(values[j]));
    }
    return norm > 0 ? largest / norm : 0;
}

/* Corrects eigenvectors that were found on a copy in single precision: Rayleigh-Ritz once more, with the operator
 * itself. Directions that were only rounding error get their true eigenvalue, nearly zero. */
static kfe_status refine(const kfe_i_gram *gram, int64_t k, double tolerance, double *eigenvalues,
                         double *vectors)
{
    kfe_status status = KFE_OK;
    kfe_context *ctx = gram->ctx;
    double *image = NULL;
    double *rotated = NULL;
    double *projected = NULL;
    double *rotation = NULL;

    KFE_ALLOC(ctx, image, gram->size * k);
    KFE_ALLOC(ctx, rotated, gram->size * k);
    KFE_ALLOC(ctx, projected, k * k);
    KFE_ALLOC(ctx, rotation, k * k);
    KFE_TRY(kfe_i_gram_times(gram, vectors, k, image));
    kfe_i_inner_products(gram->size, kfe_i_packed(vectors, k), kfe_i_packed(image, k), projected);
    KFE_TRY(kfe_i_symmetric_eigen(ctx, k, projected, k, eigenvalues, rotation));
    kfe_i_combine(gram->size, 1, kfe_i_packed(vectors, k), kfe_i_packed(rotation, k), 0, rotated);
    memcpy(vectors, rotated, (size_t)(gram->size * k) * sizeof *vectors);
    kfe_i_combine(gram->size, 1, kfe_i_packed(image, k), kfe_i_packed(rotation, k), 0, rotated);
    double reached = relative_residual(gram->size, k, eigenvalues, vectors, rotated);
    kfe_i_log(ctx, reached > tolerance ? KFE_LOG_WARNING : KFE_LOG_INFO,
              "eigenvectors: computed on a copy in single precision to save memory; the relative residual is "
              "%.1e",
              reached);
cleanup:
    kfe_i_free(ctx, image);
    kfe_i_free(ctx, rotated);
    kfe_i_free(ctx, projected);
    kfe_i_free(ctx, rotation);
    return status;
}

kfe_status kfe_i_gram_eigen(const kfe_i_gram *gram, int64_t k, double tolerance, double *eigenvalues,
                            double *vectors)
{
    kfe_status status = KFE_OK;
    kfe_i_kept kept = {0};
    eigen_state s = {.ctx = gram->ctx, .n = gram->size, .k = k};

    assert(k >= 1 && k <= gram->size);
    assert(tolerance > 0);
    if (kfe_i_gram_has_landmarks(gram, NULL))
        return kfe_i_landmark_eigen(gram, k, eigenvalues, vectors);
    if (gram->size <= DENSE_SIZE || k > gram->size / DENSE_SHARE)
        return dense_eigen(gram, k, eigenvalues, vectors);
    choose_sizes(gram, &s);
    KFE_TRY(kfe_i_gram_keep(gram, bytes_needed(&s), &kept));
    s.gram = kept.gram;
    status = krylov_eigen(&s, 1, tolerance, eigenvalues, vectors);
    if (status != KFE_OK && s.space.gave_up) {
        release(&s);
        s.size = s.is_image = 0;
        status = krylov_eigen(&s, 0, tolerance, eigenvalues, vectors);
    }
    if (status != KFE_OK)
        goto cleanup;
    if (kept.stored && kfe_i_gram_is_single(kept.stored))
        KFE_TRY(refine(gram, k, tolerance, eigenvalues, vectors));
cleanup:
    release(&s);
    kfe_i_gram_keep_free(&kept);
    return status;
}
