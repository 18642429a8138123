/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Open a plan: the JSON that says how one published table or figure is computed (docs/reproduction.md has the
 * schema). A plan is checked as a whole when it is opened, so that a misspelt name fails at once and not after
 * an hour of fits.
 */
#ifndef REP_PLAN_H
#define REP_PLAN_H

#include <jansson.h>

#include "reproduce/src/text.h"

typedef enum rep_kind { REP_TABLE, REP_CURVE, REP_SCATTER, REP_PATH, REP_TIME, REP_ROC } rep_kind;
#define REP_KIND_WORDS "table|curve|scatter|path|time|roc"

typedef struct rep_plan {
    kfe_context *ctx;
    char *name; /* as the user wrote it */
    json_t *root;
    rep_kind kind;
    json_t *rows, *columns; /* inside root */
} rep_plan;

/* How a plan is run. */
typedef struct rep_use {
    const char *folder; /* where the data sets are; "": no folder was given */
    int quick;          /* use the plan's "quick" protocol */
} rep_use;

/* `name`: an embedded plan, or a file if it contains '/' or ends in ".json". Close the plan also after a failure. */
kfe_status rep_plan_open(kfe_context *ctx, const char *name, rep_plan *out);
kfe_status rep_plan_parse(kfe_context *ctx, const char *name, const char *text, size_t size, rep_plan *out);
void rep_plan_close(rep_plan *plan);

/* Records "plan: where: reason" and returns KFE_EINPUT. */
kfe_status rep_plan_fail(const rep_plan *plan, const char *where, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Puts "plan: where: " before the recorded message, and makes KFE_EINVAL KFE_EINPUT. KFE_OK, KFE_ENOMEM and
 * KFE_ECANCEL pass unchanged. */
kfe_status rep_plan_prefix(const rep_plan *plan, const char *where, kfe_status status);

/* Nonzero for tables and curves: every cell is cross-validated by the metrics of the plan. */
int rep_plan_is_assessed(const rep_plan *plan);
/* The string of a key, or NULL. */
const char *rep_string(const json_t *object, const char *key);
/* The metrics of the plan in order; NULL past the end. */
const char *rep_plan_metric(const rep_plan *plan, int64_t index);
#define REP_SUPPORT_VECTORS "support-vectors"
#define REP_SECONDS "seconds"
#define REP_ROC_METRIC "true-positive-rate"
enum { REP_LONGEST_PATH = 1000000 };
/* Points of a curve, path or ROC curve. Other kinds have one point, which is NaN. */
int64_t rep_plan_points(const rep_plan *plan);
double rep_plan_point(const rep_plan *plan, int64_t index);

/* A number of the paper. NaN: not available. */
typedef struct rep_published {
    double value, sd;
    double count; /* runs behind the standard deviation */
} rep_published;
rep_published rep_plan_published(const rep_plan *plan, const json_t *row, const char *column,
                                 const char *metric);

#endif
