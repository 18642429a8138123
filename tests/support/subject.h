/* SPDX-License-Identifier: Apache-2.0 */
/* Run checks on every method with every kernel and suitable data. Everything comes from the public tables, so
 * that a new row of a table is covered without a new line here. */
#ifndef KFE_TESTS_SUPPORT_SUBJECT_H
#define KFE_TESTS_SUPPORT_SUBJECT_H

#include "support/fit.h"

enum { SUBJECT_ROWS = 36, SUBJECT_TEST_ROWS = 11, SUBJECT_COLS = 6, SUBJECT_CLASSES = 3 };

/* The largest violation of an SVM's optimality conditions in tight fits. */
#define SUBJECT_STOP 1e-11

/* The cap of the allowed distance. Treating one of the 36 examples wrongly moves features by about 1/36 of
 * the largest feature; a thirtieth of that still reveals the mistake. Single precision, at 6e-8, stays
 * below the cap for condition numbers up to 1e4. */
#define SUBJECT_CAP 1e-3
/* How many tests may exceed the cap: those of single precision on matrices of low rank, where features beyond
 * the rank consist of rounding errors. */
enum { SUBJECT_MOST_UNDECIDED = 4 };

typedef struct support_subject {
    int method_index;
    const kfe_entry_info *method, *kernel; /* a method without kernels has support_no_kernel */
    kfe_context *ctx;
    int tight; /* fit tightly (see support_subject_fit) */
} support_subject;

extern const kfe_entry_info support_no_kernel; /* has an empty name */

/* All subjects, without a context. The caller frees them. */
support_subject *support_subjects(int *count);
/* Whether this run includes the subject. With KFE_TEST_ALL, or if KFE_TEST_FILTER picks cases by name, it includes all; else each method
 * with the Gaussian kernel and every fourth of the others, which differ from method to method. */
int support_is_in_turn(const kfe_entry_info *method, const kfe_entry_info *kernel);

int support_subject_takes_strings(const support_subject *subject);
int support_subject_is_precomputed(const support_subject *subject);
int support_subject_has_points(const support_subject *subject);
/* NULL if the method takes no kernel. */
const char *support_subject_kernel(const support_subject *subject);

/* How the data differs from the plain training set. */
typedef struct support_variant {
    int test;   /* new points without labels */
    int sparse; /* compressed rows */
    int zeros;  /* every third number becomes zero */
    int unlabelled;
    int one_class;
    int real_targets;
    int reversed;        /* reverses the examples, except for the first one of each class */
    double perturbation; /* relative, of every number */
    uint64_t perturbation_seed;
    int cols;           /* number of columns; 0: SUBJECT_COLS */
    double first_value; /* replaces the first number; 0: no change */
} support_variant;

typedef struct support_made {
    kfe_data *data;
    double *values;
    support_csr arrays;
    char (*strings)[40];
} support_made;

support_made support_make(const support_subject *subject, const support_variant *variant);
void support_made_free(support_made *made);
/* The example in row i of the reversed training set. */
int64_t support_reversed_row(int64_t i);

/* A model, or NULL if the method refuses the kernel as indefinite. In tight fits, SVMs are solved up to
 * SUBJECT_STOP, so that rounding does not decide where they stop. Methods that search make few iterations,
 * because each iteration amplifies the rounding errors of those before. */
kfe_model *support_subject_fit(const support_subject *subject, const char *params, const kfe_data *train);

/* Makes the settings of a spec tight, for specs that are not made by support_subject_fit. */
void support_subject_tighten(const support_subject *subject, kfe_spec *spec);

/* Fits on `train` and returns the features of `data`. */
kfe_matrix support_subject_features(const support_subject *s, const char *params, const kfe_data *train,
                                    const kfe_data *data);
void support_same_bits(const kfe_matrix *a, const kfe_matrix *b);
/* Fails the test if features that are `distance` apart (relative to the largest) differ by more than
 * rounding, when numbers are kept to this precision. The allowed distance is the precision times the
 * measured sensitivity of the problem: how strongly the features of training examples and of new points
 * react to a small relative change of the kernel matrix (of the points, for methods without a matrix). A
 * distance above SUBJECT_CAP that the sensitivity explains proves nothing: the test counts as skipped and
 * prints the distance. */
void support_assert_distance(const support_subject *s, double distance, double precision);
/* Compares features up to a rotation, when numbers are kept to this precision. The rank depends on the
 * precision, so nested methods may find different numbers of features; the common ones are compared. */
void support_same_features(const support_subject *s, const kfe_matrix *a, const kfe_matrix *b,
                           double precision);
/* The same examples as two views, read from files with half of the columns each. */
kfe_data *support_read_halves(const support_subject *s, const support_made *whole);

/* ---- checks of every subject that they apply to ---- */

typedef struct support_check {
    const char *name;
    void (*run)(const support_subject *subject);
    int (*applies)(const support_subject *subject);
    int tight; /* fit the subject tightly */
} support_check;

/* Runs one CMocka test per subject and check that applies to it; returns the number of failures. */
int support_run_checks(const char *group, size_t count, const support_check *checks);

#endif
