/* SPDX-License-Identifier: Apache-2.0 */
/* Make the table of a generated data set, with columns x1, x2, …, and its balanced classes "1", "2", … */
#ifndef KFE_DATA_GENERATE_GENERATED_H
#define KFE_DATA_GENERATE_GENERATED_H

#include "data/generate/generate.h"

enum { KFE_GENERATED_MAX_CLASSES = 64 };
/* Only a bound for the parameter: the memory limit refuses far fewer rows. */
#define KFE_GENERATED_MAX_ROWS 1e12

/* Gives the first view its table and column names. */
kfe_status kfe_i_generated_table(kfe_context *ctx, kfe_data *data, int64_t rows, int64_t cols);
double *kfe_i_generated_row(kfe_data *data, int64_t row);

/* The class of row i is i modulo `classes`, so that classes are balanced among the first rows of any number. */
int64_t kfe_i_generated_class(int64_t row, int64_t classes);
kfe_status kfe_i_generated_classes(kfe_context *ctx, kfe_data *data, int64_t classes);

/* Two normal clouds: of each class, every column has this mean and standard deviation. Makes table and classes. */
kfe_status kfe_i_generated_clouds(kfe_context *ctx, kfe_i_rng *rng, int64_t rows, int64_t cols,
                                  const double mean[2], const double deviation[2], kfe_data *data);

/* A number between `low` and `high`. */
double kfe_i_generated_between(kfe_i_rng *rng, double low, double high);

#endif
