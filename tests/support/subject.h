/* SPDX-License-Identifier: Apache-2.0 */
/* What the conformance suite is run on: one method with one kernel, and data that suits the kernel, all from
 * the public tables, so that a new row is covered by being there. */
#ifndef KFE_TESTS_SUPPORT_SUBJECT_H
#define KFE_TESTS_SUPPORT_SUBJECT_H

#include "support/fit.h"

enum { SUBJECT_ROWS = 36, SUBJECT_TEST_ROWS = 11, SUBJECT_COLS = 6, SUBJECT_CLASSES = 3 };

/* Largest violation of the SVMs' optimality conditions in tight fits. */
#define SUBJECT_STOP 1e-11

/* A mistake in the treatment of one of the 36 examples moves features by some 1/36 of the largest: a check that
 * allows a thirtieth of that sees it. Single precision, at 6e-8, stays below for condition numbers up to 1e4. */
#define SUBJECT_CAP 1e-3
/* Checks of single precision on matrices of low rank, whose features beyond the rank are made of rounding. */
enum { SUBJECT_MOST_UNDECIDED = 4 };

typedef struct support_subject {
    int method_index;
    kfe_entry_info method, kernel; /* a method without kernels has an empty kernel name */
    kfe_context *ctx;
    int tight; /* fit as support_subject_fit says */
} support_subject;

/* The subjects, malloc; a context is not yet in them. */
support_subject *support_subjects(int *count);

int support_subject_takes_strings(const support_subject *subject);
int support_subject_is_precomputed(const support_subject *subject);
int support_subject_has_points(const support_subject *subject);
/* NULL if the method takes no kernel. */
const char *support_subject_kernel(const support_subject *subject);

/* How the data departs from the plain training set. */
typedef struct support_variant {
    int test;   /* other points, not labelled */
    int sparse; /* compressed rows */
    int zeros;  /* every third number becomes zero */
    int unlabelled;
    int one_class;
    int real_targets;
    int reversed;        /* examples in another order, first those of the same classes as before */
    double perturbation; /* relative, of every number */
    uint64_t perturbation_seed;
    int cols;           /* not SUBJECT_COLS but these many; 0: no change */
    double first_value; /* takes the place of the first number; 0: no change */
} support_variant;

typedef struct support_made {
    kfe_data *data;
    double *values;
    support_csr arrays;
    char (*strings)[40];
} support_made;

support_made support_make(const support_subject *subject, const support_variant *variant);
void support_made_free(support_made *made);
/* Example that stands in row i of the reversed training set. */
int64_t support_reversed_row(int64_t i);

/* A model, or NULL if the kernel is indefinite and the method refuses it. In tight fits, SVMs are solved up to
 * SUBJECT_STOP, so that rounding does not decide where they end. Methods that search make few iterations: each one
 * amplifies the rounding of those before, until nothing is left to compare. */
kfe_model *support_subject_fit(const support_subject *subject, const char *params, const kfe_data *train);

/* For specifications that are made otherwise. */
void support_subject_tighten(const support_subject *subject, kfe_spec *spec);

/* Fits on `train` and returns the features of `data`. */
kfe_matrix support_subject_features(const support_subject *s, const char *params, const kfe_data *train,
                                    const kfe_data *data);
void support_same_bits(const kfe_matrix *a, const kfe_matrix *b);
/* Whether features that are `distance` apart (relative to the largest) are the same, when numbers are kept to this
 * precision. The allowed distance is the precision times the sensitivity of the problem: how strongly the features
 * of training examples and of new points react to a small relative change of the kernel matrix (of the points for
 * methods that take no matrix), as measured. A distance above SUBJECT_CAP that the sensitivity explains shows
 * nothing: the test ends as skipped, with the number in the output. */
void support_assert_distance(const support_subject *s, double distance, double precision);
/* The same up to a rotation of the features, when numbers are kept to this precision. Of nested methods that found
 * another number of features, since the rank depends on the precision, the common ones are compared. */
void support_same_features(const support_subject *s, const kfe_matrix *a, const kfe_matrix *b,
                           double precision);
/* The same examples as two views, read from files of half the columns each. */
kfe_data *support_read_halves(const support_subject *s, const support_made *whole);

/* ---- checks of every subject that they apply to ---- */

typedef struct support_check {
    const char *name;
    void (*run)(const support_subject *subject);
    int (*applies)(const support_subject *subject);
    int tight; /* the subject is */
} support_check;

/* One CMocka test for each; how many failed. */
int support_run_checks(const char *group, size_t count, const support_check *checks);

#endif
