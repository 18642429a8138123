/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Eigenvectors of operators on a device: all of them from the whole matrix there, if gram/solve/eigen.c finds the problem small, else in a
 * Krylov space whose vectors are on the device. If a device gives up, the CPU goes on.
 */
#include "gram/solve/eigen.h"
#include "core/cluster.h"
#include "core/memory.h"
#include "gram/device/space.h"
#include "gram/device/whole.h"

/* Products are what costs on a device, so a basis may take this share of its memory. */
#define KFE_DEVICE_BASIS_SHARE 0.2

/* ---- all of them ---- */

/* The largest come last; every row of the matrix is a vector. */
static kfe_device_status leading_vectors(const kfe_i_device *device, const kfe_device_matrix *all, int64_t k,
                                         double *vectors, double *row)
{
    kfe_device_status status = KFE_DEVICE_OK;
    int64_t n = all->rows;

    for (int64_t j = 0; j < k; j++) {
        kfe_device_matrix vector = kfe_device_part(*all, n - 1 - j, 1, 0, n);
        KFE_DEVICE_TRY(device->table->download(device->handle, &vector, row, n));
        for (int64_t i = 0; i < n; i++)
            vectors[i * k + j] = row[i];
    }
cleanup:
    return status;
}

/* work: 2n, of which the first n receive all eigenvalues, rising. */
static kfe_status diagonalise(const kfe_i_device_whole *w, int64_t k, double *work, double *vectors,
                              kfe_device_status *result)
{
    kfe_status status = KFE_OK;
    kfe_i_device *device = w->device;
    int64_t n = w->gram->size;
    kfe_device_matrix matrix = {0};

    *result = kfe_i_device_matrix_new(device, n, n, KFE_DEVICE_F64, &matrix);
    if (*result == KFE_DEVICE_OK)
        KFE_TRY(kfe_i_device_whole_fill(w, 1, 0, &matrix, result));
    device->stage = "computing eigenvectors";
    if (*result == KFE_DEVICE_OK)
        *result = device->table->syevd(device->handle, &matrix, work);
    if (*result == KFE_DEVICE_OK)
        *result = leading_vectors(device, &matrix, k, vectors, work + n);
cleanup:
    kfe_i_device_matrix_free(device, &matrix);
    return status;
}

static kfe_status dense_eigen(const void *user, int64_t k, double *values, double *vectors, int *done)
{
    kfe_status status = KFE_OK;
    const kfe_i_device_whole *w = user;
    int64_t n = w->gram->size;
    kfe_device_status result = KFE_DEVICE_OK;
    kfe_i_outcome how;
    double *work = NULL;

    *done = 0;
    if (n == 0 || !w->device)
        return KFE_OK;
    KFE_ALLOC(w->ctx, work, 2 * n);
    KFE_TRY(kfe_i_device_whole_means(w));
    KFE_TRY(diagonalise(w, k, work, vectors, &result));
    if (result != KFE_DEVICE_OK && !kfe_i_device_gives_up(w->device, result, "eigenvectors"))
        KFE_TRY(kfe_i_device_status(w->device, result));
    for (int64_t j = 0; result == KFE_DEVICE_OK && j < k; j++)
        values[j] = work[n - 1 - j];
    how = result == KFE_DEVICE_OK ? KFE_OUTCOME_GOOD : KFE_OUTCOME_NO_ROOM;
    KFE_TRY(kfe_i_device_whole_agree(w, &how));
    *done = how == KFE_OUTCOME_GOOD;
cleanup:
    kfe_i_free(w->ctx, work);
    return status;
}

/* ---- some ---- */

static kfe_status open_space(const void *user, const kfe_i_gram *gram, const kfe_i_gram *exact, int64_t small,
                             int64_t most, kfe_i_space *out)
{
    const kfe_i_device_whole *w = user;

    return kfe_i_device_space_open(gram, exact, w->centred != NULL, small, most, out);
}

kfe_status kfe_i_device_eigen_of(const kfe_i_gram *gram, const kfe_i_gram *inside, int64_t k,
                                 double tolerance, double *values, double *vectors)
{
    kfe_status status = KFE_OK;
    kfe_i_device_whole w = {0};
    kfe_i_eigen_place place = {.user = &w, .dense = dense_eigen, .open_space = open_space};

    KFE_TRY(kfe_i_device_whole_open(gram, inside, &w));
    if (!w.device)
        return kfe_i_find_eigen(gram, k, tolerance, values, vectors);
    place.basis_bytes = KFE_DEVICE_BASIS_SHARE * kfe_i_device_room(w.device);
    if (w.together)
        KFE_TRY(kfe_i_cluster_least(w.ctx, &place.basis_bytes));
    KFE_TRY(kfe_i_find_eigen_in(&place, gram, k, tolerance, values, vectors));
    KFE_TRY(kfe_i_device_whole_share(&w, values, k));
    KFE_TRY(kfe_i_device_whole_share(&w, vectors, gram->size * k));
cleanup:
    return status;
}

kfe_status kfe_i_device_eigen(const kfe_i_gram *gram, int64_t k, double tolerance, double *values,
                              double *vectors)
{
    return kfe_i_device_eigen_of(gram, gram, k, tolerance, values, vectors);
}
