/* SPDX-License-Identifier: Apache-2.0 */
/* What a method or learner may notice when a table changes without saying anything else, and the settings that it needs in such tests;
 * tests/conformance/test_conformance_invariance.c uses it. */
#ifndef KFE_TESTS_SUPPORT_INVARIANCE_H
#define KFE_TESTS_SUPPORT_INVARIANCE_H

#include "support/examples.h"
#include "support/subject.h"

/* Relative to the largest feature. Two tables differ by rounding, which the condition number amplifies; a method that looks at what it
 * should not differs by 1e-3 or more. */
#define TOLERANCE 1e-6
/* The same with the default stops of SVMs and searches, which end at a point that depends on rounding. */
#define TOLERANCE_DEFAULT 1e-3

typedef struct job {
    char name[128];
    int index;
    int is_learner, decides; /* the decision values are compared, not the features */
    const kfe_entry_info *entry;
    const kfe_entry_info *kernel; /* support_no_kernel: none */
    const char *option;           /* of the fit, as "landmarks=15;landmark-by=random"; NULL: none */
    support_target_kind kind;
    support_dress dress;
} job;

typedef struct exception {
    const char *name;
    const char *params;
    double tolerance; /* 0: TOLERANCE */
    const char *
        automatic; /* a kernel with which the automatic setting holds all the same, on plain tables; NULL: none */
    const char *reason;
} exception;

/* NULL: none. */
const exception *exception_of(const job *task);

typedef enum cause { CONSTANTS, UNITS, EQUAL_ROWS, WEIGHTS, SIGNS, COUNTS, EVERYTHING } cause;

int may_notice(const job *task, cause by);

/* ---- which changes apply ---- */

int has_points(const job *task);
int is_calibrated(const job *task);
int is_smooth(const job *task);
int has_classes(const job *task);
int ignores_constants(const job *task);
int takes_weights(const job *task);
int takes_equal_rows(const job *task);
int counts_weights(const job *task);
int counts_class_weights(const job *task);
int ignores_counts(const job *task);
int ignores_repetition(const job *task);
int has_width(const job *task);
int has_units(const job *task);

#endif
