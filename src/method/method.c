/* SPDX-License-Identifier: Apache-2.0 */
/* The table of methods and its public view, kfe_method and kfe_method_param. */
#include "method/method.h"

#include <string.h>

#include "core/memory.h"
#include "core/suggest.h"

#define KFE_METHOD(name) extern const kfe_i_method kfe_i_method_##name;
#include "method/methods.def"
#undef KFE_METHOD

#define KFE_METHOD(name) &kfe_i_method_##name,
static const kfe_i_method *const methods[] = {
#include "method/methods.def"
};
#undef KFE_METHOD

const kfe_i_method *kfe_i_method_at(int index)
{
    return index >= 0 && (size_t)index < sizeof methods / sizeof *methods ? methods[index] : NULL;
}

kfe_i_use kfe_i_method_use(const kfe_i_method *method, const void *settings, kfe_i_offer offer,
                           const char **why)
{
    const char *reason = NULL;
    kfe_i_use use = method->uses              ? method->uses(settings, offer, &reason)
                    : offer == KFE_OFFER_GRAM ? KFE_USE_PREFERRED
                                              : KFE_USE_NOT;

    if (why)
        *why = reason;
    return use;
}

int kfe_i_method_compares_views(const kfe_i_method *method)
{
    return method->flags & KFE_HAS_MULTIVIEW && method->flags & KFE_HAS_REGRESSION &&
           !(method->flags & KFE_HAS_SUPERVISION) && !kfe_i_method_use(method, NULL, KFE_OFFER_GRAM, NULL);
}

kfe_i_use kfe_i_use_sums(const void *settings, kfe_i_offer offer, const char **why)
{
    (void)settings;
    (void)why;
    return offer == KFE_OFFER_GRAM   ? KFE_USE_PREFERRED
           : offer == KFE_OFFER_SUMS ? KFE_USE_POSSIBLE
                                     : KFE_USE_NOT;
}

kfe_i_use kfe_i_prefer_sums(const void *settings, kfe_i_offer offer, const char **why)
{
    (void)settings;
    (void)why;
    return offer == KFE_OFFER_GRAM   ? KFE_USE_POSSIBLE
           : offer == KFE_OFFER_SUMS ? KFE_USE_PREFERRED
                                     : KFE_USE_NOT;
}

kfe_i_use kfe_i_use_rows(const void *settings, kfe_i_offer offer, const char **why)
{
    (void)settings;
    (void)offer;
    (void)why;
    return KFE_USE_NOT;
}

static const char *method_name_at(const void *list, int index)
{
    const kfe_i_method *method = kfe_i_method_at(index);
    (void)list;
    return method ? method->name : NULL;
}

kfe_status kfe_i_method_find(kfe_context *ctx, const char *name, const kfe_i_method **out)
{
    char suggestion[96];

    for (int i = 0; (*out = kfe_i_method_at(i)); i++)
        if (strcmp((*out)->name, name) == 0)
            return KFE_OK;
    kfe_i_suggest(name, method_name_at, NULL, suggestion, sizeof suggestion);
    return kfe_i_fail(ctx, KFE_EINVAL, "there is no method '%s'%s; {methods} lists them", name, suggestion);
}

const char *kfe_i_method_kernel(const kfe_i_method *method)
{
    if (method->kernel)
        return method->kernel;
    return method->flags & KFE_HAS_KERNELS ? "rbf" : "linear";
}

const kfe_entry_info *kfe_method(int index)
{
    const kfe_i_method *row = kfe_i_method_at(index);
    return row ? &row->entry : NULL;
}

const char *kfe_method_kernel(int index)
{
    const kfe_i_method *row = kfe_i_method_at(index);
    return row && row->flags & KFE_HAS_KERNELS ? kfe_i_method_kernel(row) : NULL;
}

const kfe_param_info *kfe_method_param(int index, int param)
{
    const kfe_i_method *method = kfe_i_method_at(index);
    return method ? kfe_i_param_info(&method->params, param) : NULL;
}
