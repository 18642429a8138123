/* SPDX-License-Identifier: Apache-2.0 */
/* Every way to be a Gram operator, each with the matrix that it should be, worked out entry by entry. */
#ifndef KFE_TESTS_SUPPORT_GRAM_CASES_H
#define KFE_TESTS_SUPPORT_GRAM_CASES_H

#include "gram/gram.h"
#include "support/points.h"

typedef struct gram_data {
    int64_t size;
    support_points points;
    double largest_norm; /* of the points, squared */
    double *given;       /* size × (size + 1): a kernel matrix with a gap after each row */
    char *bytes;         /* strings, one after the other */
    int64_t *starts;
    int64_t all;    /* of a matrix of which `size` rows and columns are the operator */
    double *whole;  /* all × all */
    int64_t *index; /* size, in no order */
} gram_data;

void gram_data_make(gram_data *out, int64_t size);
void gram_data_free(gram_data *data);

typedef enum gram_table { GRAM_DENSE, GRAM_CSR, GRAM_GIVEN, GRAM_STRINGS, GRAM_SUBSET } gram_table;

typedef struct gram_case {
    const char *name;
    const char *kernels; /* separated by blanks */
    gram_table table;
    kfe_i_gram_storage storage;
    const char *form;                                                  /* in the name of the form */
    long double (*entry)(const gram_data *data, int64_t i, int64_t j); /* the truth */
    double (*slack)(const gram_data *data);                            /* how far an entry may be off */
} gram_case;

/* Ends with a case without a name. */
extern const gram_case gram_cases[];

/* An opened case and, if asked for, its centred operator. */
typedef struct gram_opened {
    kfe_i_kernel_list kernels;
    kfe_i_table table;
    kfe_i_gram *plain, *centred;
    const kfe_i_gram *gram; /* the one that was asked for */
} gram_opened;

/* Must be closed, also after a failure. */
kfe_status gram_case_open(kfe_context *ctx, const gram_case *one, const gram_data *data, int centred,
                          gram_opened *out);
void gram_case_close(gram_opened *opened);

/* What the operator should be, size × size, freed by the caller. */
double *gram_case_expected(const gram_case *one, const gram_data *data, int centred);

#endif
