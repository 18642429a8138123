/* SPDX-License-Identifier: Apache-2.0 */
/* Open a Gram operator of every form, with the matrix that it should equal, computed entry by entry. */
#ifndef KFE_TESTS_SUPPORT_GRAM_CASES_H
#define KFE_TESTS_SUPPORT_GRAM_CASES_H

#include "gram/gram.h"
#include "support/points.h"

typedef struct gram_data {
    int64_t size;
    support_points points;
    double largest_norm; /* the largest squared norm of a point */
    double *given;       /* size × (size + 1): a given kernel matrix with one unused number after each row */
    char *bytes;         /* the strings, concatenated */
    int64_t *starts;
    int64_t all;    /* the order of `whole`, of which `size` rows and columns form the operator */
    double *whole;  /* all × all */
    int64_t *index; /* the rows of `whole` in the operator, in mixed order */
} gram_data;

void gram_data_make(gram_data *out, int64_t size);
void gram_data_free(gram_data *data);

typedef enum gram_table { GRAM_DENSE, GRAM_CSR, GRAM_GIVEN, GRAM_STRINGS, GRAM_SUBSET } gram_table;

typedef struct gram_case {
    const char *name;
    const char *kernels; /* separated by spaces */
    gram_table table;
    kfe_i_gram_storage storage;
    const char *form;                                                  /* part of the name of the form */
    long double (*entry)(const gram_data *data, int64_t i, int64_t j); /* the correct value */
    double (*slack)(const gram_data *data);                            /* the allowed error of an entry */
} gram_case;

/* The last case has no name. */
extern const gram_case gram_cases[];

/* An opened case and, if requested, its centred operator. */
typedef struct gram_opened {
    kfe_i_kernel_list kernels;
    kfe_i_table table;
    kfe_i_gram *plain, *centred;
    const kfe_i_gram *gram; /* plain or centred, as requested */
} gram_opened;

/* Close the case also after a failure. */
kfe_status gram_case_open(kfe_context *ctx, const gram_case *one, const gram_data *data, int centred,
                          gram_opened *out);
void gram_case_close(gram_opened *opened);

/* The matrix that the operator should equal, size × size. The caller frees it. */
double *gram_case_expected(const gram_case *one, const gram_data *data, int centred);

#endif
