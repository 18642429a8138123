/* SPDX-License-Identifier: Apache-2.0 */
/* The cases that compare.c runs on two plug-ins: each makes numbers from a seed with one call of the device interface. */
#ifndef KFE_TESTS_GPU_CASES_H
#define KFE_TESTS_GPU_CASES_H

#include "session.h"

enum { SIZES_MOST = 12 };

/* What the cases of a kind differ in. */
typedef struct setting {
    int formula, sparse;
    kfe_device_type type;
    int64_t n, d, k;
} setting;

typedef void (*case_function)(session *s, const setting *c);

typedef struct kind {
    const char *name;
    case_function run;
    int formulas; /* of the table; 1: does not matter */
    int sparse;   /* also with compressed rows */
    int types;    /* 2: both, 3: and mixed */
    setting sizes[SIZES_MOST];
} kind;

extern const kind kinds[];
extern const int kind_count;

/* Whether a formula of the table takes compressed rows. */
int formula_takes_sparse(int formula);

#endif
