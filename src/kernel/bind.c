/* SPDX-License-Identifier: Apache-2.0 */
/* Decides which kernel is evaluated on which view, for every fit on several views. */
#include <string.h>

#include "core/memory.h"
#include "data/set/views.h"
#include "kernel/kernel.h"

static int is_on(const kfe_i_kernel *kernel, const kfe_i_view *view)
{
    return kernel->view_name && strcmp(kernel->view_name, view->name) == 0;
}

/* Whether a kernel was given to this view by name. */
static int has_own(const kfe_i_kernel_list *list, const kfe_i_view *views, int view)
{
    for (int64_t m = 0; views && m < list->count; m++)
        if (is_on(&list->items[m], &views[view]))
            return 1;
    return 0;
}

static int count_open(const kfe_i_kernel_list *list, int count, const kfe_i_view *views)
{
    int found = 0;

    for (int v = 0; v < count; v++)
        found += !has_own(list, views, v);
    return found;
}

static int64_t count_free(const kfe_i_kernel_list *list)
{
    int64_t found = 0;

    for (int64_t m = 0; m < list->count; m++)
        found += !list->items[m].view_name;
    return found;
}

int kfe_i_kernel_list_misses_views(const kfe_i_kernel_list *list, int count, const kfe_i_view *views)
{
    return count_free(list) == 0 && count_open(list, count, views) > 0;
}

static kfe_status check_counts(const kfe_i_kernel_list *list, int64_t kernels, int open, int count)
{
    if (kernels > 0 && open == 0)
        return kfe_i_fail(list->ctx, KFE_EINVAL,
                          "every view has its own kernel from {view-kernel}; leave out {kernel}");
    if (kernels > 1 && open > 1 && kernels != open)
        return kfe_i_fail(
            list->ctx, KFE_EINVAL,
            "%lld kernels do not fit %d %s; give one kernel for all of them or one for each, or "
            "name the view of each kernel with {view-kernel}",
            (long long)kernels, open, open < count ? "views without a kernel" : "views");
    return KFE_OK;
}

static kfe_status place_named(kfe_i_kernel_list *list, int count, const kfe_i_view *views)
{
    for (int64_t m = 0; m < list->count; m++) {
        kfe_i_kernel *kernel = &list->items[m];
        if (!kernel->view_name)
            continue;
        kernel->view = views ? kfe_i_views_find(views, count, kernel->view_name) : -1;
        if (kernel->view < 0)
            return kfe_i_views_no_such(list->ctx, views, views ? count : 0, kernel->view_name);
    }
    return KFE_OK;
}

/* The next view from `view` on that has no kernel by name. */
static int next_open(const kfe_i_kernel_list *list, const kfe_i_view *views, int view)
{
    while (has_own(list, views, view))
        view++;
    return view;
}

static kfe_status add_copy(kfe_i_kernel_list *list, int64_t source)
{
    kfe_i_kernel copy = {0};
    kfe_status status = kfe_i_kernel_copy(list->ctx, &list->items[source], &copy);

    return status == KFE_OK ? kfe_i_kernel_list_add(list, &copy) : status;
}

static kfe_status place_free(kfe_i_kernel_list *list, int open, const kfe_i_view *views)
{
    kfe_status status = KFE_OK;
    int64_t kernels = count_free(list);
    int64_t first = 0;
    int view = -1;

    while (first < list->count && list->items[first].view_name)
        first++;
    for (; kernels > 0 && kernels < open; kernels++)
        KFE_TRY(add_copy(list, first));
    for (int64_t m = 0; m < list->count; m++) {
        if (list->items[m].view_name)
            continue;
        if (view < 0 || open > 1)
            view = next_open(list, views, view + 1);
        list->items[m].view = view;
    }
cleanup:
    return status;
}

/* Insertion sort: stable, and lists are short. */
static void sort_by_view(kfe_i_kernel_list *list)
{
    for (int64_t m = 1; m < list->count; m++) {
        kfe_i_kernel moved = list->items[m];
        int64_t place = m;
        for (; place > 0 && list->items[place - 1].view > moved.view; place--)
            list->items[place] = list->items[place - 1];
        list->items[place] = moved;
    }
}

kfe_status kfe_i_kernel_list_bind(kfe_i_kernel_list *list, int count, const kfe_i_view *views)
{
    kfe_status status = KFE_OK;
    int open = 0;

    KFE_TRY(place_named(list, count, views));
    open = count_open(list, count, views);
    KFE_TRY(check_counts(list, count_free(list), open, count));
    KFE_TRY(place_free(list, open, views));
    sort_by_view(list);
    for (int v = 0; v < count; v++)
        if (kfe_i_kernel_list_given(list, v) < 0)
            KFE_FAIL(list->ctx, KFE_EINVAL,
                     "a precomputed kernel cannot share a view with others; give the matrix and the table as "
                     "two files");
cleanup:
    return status;
}
