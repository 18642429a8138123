/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the form of an operator: by its kernels, how the user wants it stored, and whether there is a cluster or a device (place.c). Nothing else
 * decides that, so that code on one CPU runs no code of devices or clusters. */
#include "core/cluster.h"
#include "core/memory.h"
#include "gram/cluster/dealt.h"
#include "gram/cluster/on_devices.h"
#include "gram/cluster/ways.h"
#include "gram/device/form.h"
#include "gram/form/landmarks.h"
#include "gram/place.h"

static kfe_status open_term(kfe_context *ctx, const kfe_i_kernel *kernel, const kfe_i_table *table,
                            kfe_i_gram **out)
{
    if (kernel->def->base == KFE_BASE_GIVEN)
        return kfe_i_gram_precomputed(ctx, table, out);
    if (kernel->def->base == KFE_BASE_DOT && !kernel->def->map)
        return kfe_i_gram_factored(ctx, table, out);
    return kfe_i_gram_tiled(ctx, kernel, table, out);
}

static kfe_status open_terms(kfe_context *ctx, const kfe_i_kernel_list *kernels, const kfe_i_table *views,
                             kfe_i_gram **out)
{
    kfe_status status = KFE_OK;
    kfe_i_gram **terms = NULL;
    double *weights = NULL;
    int64_t opened = 0;

    KFE_ALLOC_ZERO(ctx, terms, kernels->count);
    KFE_ALLOC(ctx, weights, kernels->count);
    for (; opened < kernels->count; opened++) {
        const kfe_i_kernel *kernel = &kernels->items[opened];
        weights[opened] = kernel->common.weight;
        KFE_TRY(open_term(ctx, kernel, &views[kernel->view], &terms[opened]));
    }
    if (opened == 1 && weights[0] == 1) {
        *out = terms[0];
    } else {
        status = kfe_i_gram_sum(ctx, terms, weights, opened, out);
    }
    opened = 0;
cleanup:
    for (int64_t m = 0; m < opened; m++)
        kfe_i_gram_free(terms[m]);
    kfe_i_free(ctx, terms);
    kfe_i_free(ctx, weights);
    return status;
}

/* Kernels that are not a given matrix and not XXᵀ are evaluated tile by tile. */
static int are_tiled(const kfe_i_kernel_list *kernels)
{
    for (int64_t m = 0; m < kernels->count; m++) {
        const kfe_i_kernel_def *def = kernels->items[m].def;
        if (def->base == KFE_BASE_GIVEN || (def->base == KFE_BASE_DOT && !def->map))
            return 0;
    }
    return 1;
}

/* Stores the matrix where the operator is. *out NULL: there is no room. The result may take over the operator; *gram is NULL then. */
typedef kfe_status store_fn(kfe_i_gram **gram, int single, kfe_i_gram **out);

static kfe_status store_in_memory(kfe_i_gram **gram, int single, kfe_i_gram **out)
{
    return kfe_i_gram_packed((*gram)->ctx, *gram, single, out);
}

/* Divided over the processes of a cluster, on their devices if all have it there. A matrix that is not evaluated is whole in every process. */
static kfe_status use_cluster(const kfe_i_kernel_list *kernels, int wants_device, int on_device,
                              kfe_i_gram **gram, store_fn **store)
{
    kfe_status status = KFE_OK;
    int tiled = are_tiled(kernels);
    int on_devices = on_device;

    (*gram)->ways = kfe_i_ways_of_cluster;
    if (!tiled && kernels->count == 1 && kernels->items[0].common.weight == 1)
        return KFE_OK;
    if (wants_device)
        KFE_TRY(kfe_i_devices_deal((*gram)->ctx, gram, &on_devices));
    if (!on_devices)
        KFE_TRY(kfe_i_gram_deal(gram, tiled));
    *store = on_devices ? kfe_i_devices_keep_owned : kfe_i_dealt_keep_owned;
cleanup:
    return status;
}

kfe_status kfe_i_gram_open(kfe_context *ctx, const kfe_i_kernel_list *kernels, const kfe_i_table *views,
                           kfe_i_gram_storage storage, kfe_i_gram **out)
{
    kfe_status status = KFE_OK;
    kfe_i_gram *gram = NULL;
    kfe_i_device *device = NULL;
    store_fn *store = store_in_memory;
    int on_device = 0;
    int single = storage == KFE_GRAM_F32;

    *out = NULL;
    KFE_TRY(open_terms(ctx, kernels, views, &gram));
    int wants_device = kfe_i_wants_device(ctx, (double)gram->size * (double)gram->size);
    if (wants_device)
        KFE_TRY(kfe_i_choose_device(ctx, (double)gram->size * (double)gram->size, &device));
    if (device)
        KFE_TRY(kfe_i_device_wrap(device, kernels, views, &gram, &on_device));
    if (on_device)
        store = kfe_i_device_keep_owned;
    if (kfe_i_processes(ctx) > 1)
        KFE_TRY(use_cluster(kernels, wants_device, on_device, &gram, &store));
    if (storage == KFE_GRAM_F64 || single) {
        KFE_TRY(store(&gram, single, out));
        if (!*out)
            KFE_TRY(store_in_memory(&gram, single, out));
    } else {
        *out = gram;
        gram = NULL;
        (*out)->pinned = storage == KFE_GRAM_TILED;
    }
    kfe_i_log(ctx, KFE_LOG_INFO, "kernel matrix of %lld examples: %s", (long long)(*out)->size,
              (*out)->form->name);
cleanup:
    kfe_i_gram_free(gram);
    return status;
}

kfe_status kfe_i_gram_open_plan(kfe_context *ctx, const kfe_i_kernel_list *kernels, const kfe_i_table *views,
                                const kfe_i_landmark_plan *plan, kfe_i_gram_storage storage, kfe_i_gram **out)
{
    kfe_status status = KFE_OK;
    kfe_i_gram *exact = NULL;

    if (plan->count == 0)
        return kfe_i_gram_open(ctx, kernels, views, storage, out);
    *out = NULL;
    KFE_TRY(kfe_i_gram_open(ctx, kernels, views, KFE_GRAM_AUTO, &exact));
    KFE_TRY(kfe_i_gram_landmarks(ctx, exact, plan, storage, out));
cleanup:
    return status;
}

int kfe_i_landmarks_can_stream(const kfe_context *ctx, const kfe_i_kernel_list *kernels,
                               const kfe_i_table *views)
{
    const kfe_i_kernel *kernel = &kernels->items[0];
    double n = (double)views[kernel->view].rows;

    return kernels->count == 1 && kernel->common.weight == 1 && are_tiled(kernels) &&
           !(kernel->def->flags & KFE_HAS_INDEFINITE) && !kfe_i_wants_device(ctx, n * n);
}
