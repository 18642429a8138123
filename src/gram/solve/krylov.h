/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A block Krylov space and its Ritz pairs, for eigen.c.
 *
 * V (n × m) is an orthonormal basis, W ≈ GV is kept beside it, and the eigenvectors of VᵀW (Rayleigh-Ritz) give Ritz vectors Vs with
 * residuals Ws − θVs, at no further product.
 *
 * Products may be in single precision. W then has an error E, and the residual of Vs is known up to ‖Es‖ only. The space keeps track of
 * it: with ε the error of a product with one unit vector, which is measured, and a small matrix A, ‖Es‖ ≤ ε√(sᵀAs). A new vector
 * adds a one to the diagonal of A. kfe_i_krylov_correct multiplies the leading Ritz vectors X = VS exactly and updates W and VᵀW so
 * that they are right for X; A loses that part. What later vectors add to X is small, so that products with them
 * may be inexact (Simoncini & Szyld, 2003): the residuals then fall to those of an exact iteration.
 */
#ifndef KFE_GRAM_SOLVE_KRYLOV_H
#define KFE_GRAM_SOLVE_KRYLOV_H

#include "core/resume.h"
#include "gram/solve/space.h"
#include "linalg/linalg.h"

typedef struct kfe_i_krylov {
    kfe_context *ctx;
    int64_t n, k, block, capacity; /* k: pairs that are wanted. capacity: columns of basis and image */
    int64_t size;                  /* columns in use */
    kfe_i_space space;             /* where the long vectors are */
    kfe_i_long basis, image;       /* V and W, n × capacity */
    kfe_i_long candidate, product; /* n × block, packed: the new block, and G times it */
    int64_t newest;                /* columns of product */
    int is_image;                  /* the new block is the image of the last one */
    kfe_i_long swap;               /* n × (k + block), packed */
    double *inner;                 /* VᵀW, made symmetric, capacity × capacity */
    double *projected;             /* a copy of a small matrix, which the eigensolver destroys */
    double *ritz_values, *ritz;    /* its leading eigenvalues and vectors, size × found */
    int64_t found;                 /* as many as a restart may keep */
    double *small;                 /* 2·capacity × capacity */
    double *residuals;             /* k + block, squared */
    int fast;                      /* products are in single precision */
    int fast_products;             /* how many were */
    int corrected;                 /* the leading Ritz vectors were multiplied exactly */
    double fast_error;             /* ε: the error of such a product with a unit vector */
    double *inexact;               /* A, capacity × capacity */
    kfe_i_eigen_work *work;
} kfe_i_krylov;

/* What is known of the leading Ritz pairs. */
typedef struct kfe_i_ritz_error {
    double residual; /* the largest of the k wanted pairs, from W */
    double doubt;    /* what errors of W are likely to add to it */
    /* What they can add at most: ε was measured with random vectors, and others may have √n times that error. */
    double bound;
    double norm; /* a bound of ‖G‖ from below */
} kfe_i_ritz_error;

/* Allocates for n, k, block and capacity, which are set; the space is open. Free it also after a failure. */
kfe_status kfe_i_krylov_allocate(kfe_i_krylov *s);
/* Also closes the space. */
void kfe_i_krylov_free(kfe_i_krylov *s);
/* candidate = random numbers, of the seed of the context. */
kfe_status kfe_i_krylov_random(kfe_i_krylov *s);
/* Adds those of *count candidates that are independent of the basis, and their products; *count receives their number. */
kfe_status kfe_i_krylov_extend(kfe_i_krylov *s, int64_t *count);
/* Computes the Ritz pairs, and how exact they are. */
kfe_status kfe_i_krylov_ritz(kfe_i_krylov *s, kfe_i_ritz_error *out);
/* Multiplies the leading Ritz vectors exactly and computes the pairs again. */
kfe_status kfe_i_krylov_correct(kfe_i_krylov *s, kfe_i_ritz_error *out);
/* Keeps only the leading Ritz vectors, with exact products, which all later ones are too. */
kfe_status kfe_i_krylov_leave_single(kfe_i_krylov *s, kfe_i_ritz_error *out);
/* The next candidates, *count of them: the image of the newest vectors or residuals of the leading pairs. Residuals are used after a
 * correction, because what is new in an inexact image would then be mostly its error, and when the basis is full, which is first
 * replaced by its leading Ritz vectors. */
kfe_status kfe_i_krylov_next(kfe_i_krylov *s, int64_t *count);
/* vectors (n × k) = the leading Ritz vectors. */
kfe_status kfe_i_krylov_vectors(kfe_i_krylov *s, double *vectors);

/* ---- checkpoints ---- */

/* Long vectors may be on a device, so that they are saved from copies. */
typedef struct kfe_i_krylov_copy {
    double *basis, *image; /* n × capacity, packed to the columns in use */
    double *candidate;     /* n × block */
} kfe_i_krylov_copy;

/* Adds the state to the loop, which has begun. */
kfe_status kfe_i_krylov_list(kfe_i_krylov *s, kfe_i_loop *loop, kfe_i_krylov_copy *copy);
kfe_status kfe_i_krylov_save(kfe_i_krylov *s, int64_t count, const kfe_i_krylov_copy *copy, kfe_i_loop *loop);
kfe_status kfe_i_krylov_restore(kfe_i_krylov *s, int64_t count, const kfe_i_krylov_copy *copy);
void kfe_i_krylov_copy_free(kfe_context *ctx, kfe_i_krylov_copy *copy);

#endif
