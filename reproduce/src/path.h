/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measure a path: a number against the number of features of a model, or against the iterations of its fit. One
 * fit gives the whole path, because models record what each further feature or iteration adds. The time that a fit
 * takes is a path of length one.
 */
#ifndef REP_PATH_H
#define REP_PATH_H

#include "reproduce/src/cell.h"

typedef struct rep_path {
    int tried; /* values are NULL after that: the fit failed */
    int64_t splits, length;
    /* splits × length, for 1, 2, … features, iterations or points; NaN: the model has fewer */
    double *values;
} rep_path;

/*
 * The cell's "record" is a name, "A / B" or "A - B" of two names. Without a record the path is "seconds". A name is
 * that of a record of the model (a record of one number holds for every length), or one of
 *
 *     features  1, 2, …
 *     cost      the number of features times the record bound_cost
 *     test      the mean over the test rows of y² · Σ feature², where y has the mean of the training rows
 *               subtracted; with several targets y² is the squared length
 *     seconds   the processor time of the fit, including kernels and the classifier or regressor
 *
 * The path of a ROC curve has the true positive rate at each of the cell's points (roc.h).
 *
 * With a protocol, models are fitted on the training parts of its splits; otherwise one is fitted on all rows.
 * Free the path also after a failure.
 */
kfe_status rep_path_measure(const rep_cell *cell, const kfe_data *data, int64_t length, rep_path *out);
/* Mean and standard deviation over the splits at the index-th length (from 1); NaN: not available. */
void rep_path_at(const rep_path *path, int64_t index, double *mean, double *sd);
void rep_path_free(rep_path *path);

#endif
