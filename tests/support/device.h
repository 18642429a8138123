/* SPDX-License-Identifier: Apache-2.0 */
/* Open an operator on the CPU and on a device, and compare what they answer. */
#ifndef KFE_TESTS_SUPPORT_DEVICE_H
#define KFE_TESTS_SUPPORT_DEVICE_H

#include "gram/device/form.h"
#include "support/points.h"
#include "support/support.h"
#include "support/tolerance.h"

/* The host plug-in, or the device that KFE_TEST_DEVICE names. */
const char *support_device_name(void);

void support_assert_near(const char *what, double got, double expected, double tolerance);
void support_assert_all_near(const char *what, const double *got, const double *expected, int64_t count,
                             double tolerance);

/* The same operator on the CPU and on the device. */
typedef struct support_pair {
    kfe_context *ctx;
    kfe_i_kernel_list kernels;
    kfe_i_table table;
    kfe_i_gram *cpu, *device;
    double largest; /* entry */
} support_pair;

/* `kernels` are separated by blanks; the device's operator has the given storage. */
void support_pair_open(kfe_context *ctx, const char *kernels, const support_points *points, int sparse,
                       kfe_i_gram_storage storage, support_pair *out);
void support_pair_close(support_pair *p);
/* How far entries may differ: by the order of summation of dot products, which exp and powers of three multiply by a few
 * units. */
double support_pair_slack(const support_pair *p, int single);

/* Two results of the same call. */
typedef struct support_results {
    double *cpu, *device;
} support_results;

support_results support_results_make(int64_t count);
/* Compares and frees them. */
void support_results_check(const char *what, support_results r, int64_t count, double tolerance);

#endif
