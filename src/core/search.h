/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Report a search as one piece of work: between begin and end, equal warnings are counted and passed on once, and
 * progress counts the fits of the search instead of the stages of each fit.
 */
#ifndef KFE_CORE_SEARCH_H
#define KFE_CORE_SEARCH_H

#include <omp.h>
#include <stdatomic.h>

#include "core/context.h"

/* Warnings of the same format; only the numbers and names in them differ. */
typedef struct kfe_i_counted_warning {
    char *format, *text; /* the text that sorts first, so that threads do not change it */
    int64_t count;
    int differs; /* other texts had other numbers */
} kfe_i_counted_warning;

typedef struct kfe_i_search {
    kfe_context *ctx; /* NULL: not begun, or part of another search */
    atomic_llong done;
    int64_t total; /* fits */
    double began, last_logged;
    kfe_progress_fn progress; /* of the user */
    void *progress_user;
    kfe_level level; /* at which warnings are passed on: KFE_LOG_WARNING unless changed */
    omp_lock_t lock; /* of what follows */
    kfe_i_counted_warning *warnings;
    int64_t warning_count, warning_capacity;
    int warning_lost; /* for lack of memory */
} kfe_i_search;

/* Begins a search of `total` fits. Within another search of the same context it does nothing. */
void kfe_i_search_begin(kfe_context *ctx, int64_t total, kfe_i_search *search);
/* Passes the warnings on and restores the context. Returns `status`, or KFE_ENOMEM if a warning was lost. */
kfe_status kfe_i_search_end(kfe_i_search *search, kfe_status status);
/* Adds fits that are done. From any thread, by the context of a worker too; nothing happens outside of a search. */
void kfe_i_search_count(kfe_context *ctx, int64_t fits);
/* Used by kfe_i_log. From any thread. */
void kfe_i_search_warn(kfe_context *ctx, const char *format, const char *text);

#endif
