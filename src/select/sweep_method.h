/* SPDX-License-Identifier: Apache-2.0 */
/* One method of a sweep on a group of splits: features of every split, then all settings of the learner on them. sweep.c walks the grid
 * and calls it. */
#ifndef KFE_SELECT_SWEEP_METHOD_H
#define KFE_SELECT_SWEEP_METHOD_H

#include "select/group.h"
#include "select/sum_fold.h"
#include "select/sweep.h"

/* Why a task failed; reason NULL: it did not. */
typedef struct kfe_i_task_failure {
    kfe_status status;
    char *reason;
} kfe_i_task_failure;

/* The features of one split of the group, or why there are none. */
typedef struct kfe_i_extracted {
    kfe_i_fold fold;
    kfe_i_task_failure failure;
    double seconds;
    double learning_seconds; /* of one setting, if a device learned several at once */
} kfe_i_extracted;

/* Where one run of a sweep stands. */
typedef struct kfe_i_sweep_state {
    kfe_context *ctx;
    const kfe_i_sweep *sweep;
    kfe_i_cells *cells;
    kfe_spec **learners; /* specs that hold the settings of the learner; one per learner setting */
    int64_t *dims;       /* number of features of each dim setting; 0: all */
    int64_t largest_dim; /* index of the dim setting whose fit serves all others */
    /* the current place */
    int64_t choice[KFE_AXIS_PLACES]; /* index of the current value of each place */
    kfe_spec *spec;                  /* with these values */
    kfe_i_group group;               /* the splits that are being worked on */
    kfe_i_train_cache trains;        /* of these fit options */
    kfe_i_shared shared;
    kfe_i_row_sums sums;                /* of the rows of the group */
    kfe_i_landmark_sums landmarks;      /* shared, of the current kernel */
    kfe_i_sum_plan plan;                /* how splits are fitted from sums alone */
    kfe_i_extracted *parts;             /* one per split of the group */
    kfe_i_task_failure *trial_failures; /* one per trial */
    kfe_i_predictor *trained;           /* one per trial: learned on a device; without outputs: not there */
    int learns_on_device;               /* 0: it was tried, and no device did */
    int said_where;                     /* the device was named in the log */
    /* progress */
    double began;
    int64_t done, total; /* extractions */
    int announced;
    double matrix_seconds, feature_seconds, learning_seconds;
} kfe_i_sweep_state;

/* The index of a setting in the grid. */
int64_t kfe_i_sweep_setting(const kfe_i_grid *grid, const int64_t choice[KFE_AXIS_PLACES]);
/* Whether the setting is to be tried on the split. */
int kfe_i_sweep_wants(const kfe_i_sweep_state *r, int64_t split, int64_t setting);
/* Marks a wanted cell as failed. */
kfe_status kfe_i_sweep_fail_cell(kfe_i_sweep_state *r, int64_t split, const int64_t choice[KFE_AXIS_PLACES],
                                 const kfe_i_task_failure *failure);
/* The current method and kernel, with all numbers of features and all settings of the learner, on all splits of the group. A fit that
 * fails becomes a failed cell. */
kfe_status kfe_i_sweep_run_method(kfe_i_sweep_state *r);

#endif
