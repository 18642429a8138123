/* SPDX-License-Identifier: Apache-2.0 */
/* Look into a kfe_report: the source of its figures. Only for the files of this folder. */
#ifndef KFE_REPORT_REPORT_H
#define KFE_REPORT_REPORT_H

#include "report/figure/source.h"

/* One line of what was done: "seed", "7". */
typedef struct kfe_i_fact {
    char *name, *value;
} kfe_i_fact;

struct kfe_report {
    kfe_context *ctx;
    kfe_i_source source;
    int is_prepared; /* features and predictions are computed */
    kfe_i_fact *facts;
    int64_t fact_count, fact_capacity;
    char **warnings;
    int64_t warning_count, warning_capacity;
};

#endif
