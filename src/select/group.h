/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Share work among splits with a group: the rows that its splits use, scaled, and one kernel matrix over them.
 * All splits of a group must treat their rows alike: scaling and kernel widths that depend on the training rows
 * make each split a group of its own.
 */
#ifndef KFE_SELECT_GROUP_H
#define KFE_SELECT_GROUP_H

#include "gram/base.h"
#include "select/fold.h"

typedef struct kfe_i_group {
    kfe_context *ctx;
    const kfe_data *data;
    const kfe_i_splits *splits;
    int64_t *members, count; /* which splits */
    /* the rows of the members */
    int64_t *rows, row_count;
    int64_t *place; /* of each row of the data among `rows`; -1: not used */
    /* scale=auto, one per view: would the training rows of some split be standardised? -1: not yet known */
    signed char *uneven;
    /* shared work; made when first needed */
    unsigned char *auto_scaled; /* one per view: whether scale=auto applied to `scaled` */
    kfe_i_table *scaled;        /* one per view: the rows */
    kfe_data *train;            /* training rows of the first member … */
    kfe_i_table *train_scaled;  /* … scaled */
    kfe_i_base *bases;          /* one per kernel */
    int64_t base_count;
    double *matrix;                     /* row_count × row_count */
    kfe_i_device_shared *device_matrix; /* in its place, on a device */
    int without_device;                 /* it gave up */
} kfe_i_group;

/* Room for a group of any of these splits. Free it also after a failure. */
kfe_status kfe_i_group_init(kfe_context *ctx, const kfe_data *data, const kfe_i_splits *splits,
                            kfe_i_group *out);
void kfe_i_group_free(kfe_i_group *group);
/* Makes splits first … first + count − 1 the members. Shared work of other members is dropped. */
kfe_status kfe_i_group_set(kfe_i_group *group, int64_t first, int64_t count);
/* Whether the training rows of a split decide its scaling or a kernel of the spec. */
kfe_status kfe_i_group_depends_on_rows(const kfe_i_group *group, const kfe_spec *spec, int *out);
/* Whether one matrix is to serve `fits` fits like the spec's on each split: they need kernel values only, the matrix fits in the
 * memory of the context's device or of the host, and what the fits would evaluate without it costs more. */
kfe_status kfe_i_group_can_share(const kfe_i_group *group, const kfe_spec *spec, int64_t fits, int *out);
/* Scales the rows (group->scaled), unless they are, and binds and resolves the kernels of the spec; free the kernels also after a
 * failure. */
kfe_status kfe_i_group_prepare(kfe_i_group *group, const kfe_spec *spec, kfe_i_kernel_list *kernels);
/* Fills the matrix for the kernels of the spec, on a device if it fits there; rows are scaled and dot products or distances
 * computed once. */
kfe_status kfe_i_group_fill(kfe_i_group *group, const kfe_spec *spec, kfe_i_shared_matrix *out);
/* After a fit on the group's matrix failed: whether a device ran out of memory. If so, later matrices are in host memory. */
int kfe_i_group_leaves_device(kfe_i_group *group);

/* Functions of the user are called from one thread at a time. */
int kfe_i_has_user_kernel(const kfe_spec *spec);

#endif
