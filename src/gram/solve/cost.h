/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Predict how many seconds each way of solving (G + λI)B = R will take on this machine.
 *
 * The rates of GEMM, of both Cholesky factorisations and of memory are measured once per context, in some 10 ms; only
 * problems that take a good part of a second ask for them. In a cluster the rates of messages are measured too, and all processes
 * use the rates of process 0.
 */
#ifndef KFE_GRAM_SOLVE_COST_H
#define KFE_GRAM_SOLVE_COST_H

#include "gram/gram.h"

/*
 * Seconds as they would pass if no other program ran: wall time, or processor time divided by the threads where that is
 * less. A busy machine then does not change which way is chosen.
 */
typedef struct kfe_i_stamp {
    double wall, processor;
    int threads;
} kfe_i_stamp;
kfe_i_stamp kfe_i_start_clock(const kfe_context *ctx);
double kfe_i_seconds_since(const kfe_context *ctx, kfe_i_stamp start);

/* What the predictions depend on. */
typedef struct kfe_i_cost {
    kfe_i_rates rates;
    double n, k;           /* examples, right-hand sides */
    double processes;      /* processes */
    double dealt;          /* processes that divide a product: all, or 1 */
    double entry_bytes;    /* that a product reads for each entry; 0: entries are evaluated at every pass */
    double column_seconds; /* to evaluate one column; 0: entries are stored */
    double ridge;
    double mean;      /* mean diagonal entry of G */
    double tolerance; /* of the relative residual */
} kfe_i_cost;

/* Measures the rates unless the context already has them for its numbers of threads and processes. */
kfe_status kfe_i_measure_rates(kfe_context *ctx, kfe_i_rates *out);
/* A prediction for this operator: measures the rates and, if entries are evaluated, the time of some columns. */
kfe_status kfe_i_cost_of(const kfe_i_gram *gram, double ridge, int64_t k, double tolerance, kfe_i_cost *out);

/* The decay of the spectrum, from a factor F of small rank: the trace of G − FFᵀ falls like rank^(−slope). */
typedef struct kfe_i_decay {
    double rank, trace, slope;
} kfe_i_decay;

double kfe_i_f64_seconds(const kfe_i_cost *cost);
double kfe_i_f32_seconds(const kfe_i_cost *cost, const kfe_i_decay *decay);
/* Columns that a divided factorisation eliminates at once. */
enum { KFE_DIVIDED_STEP = 256 };
/* The same with a factor that is divided over the processes. */
double kfe_i_divided_seconds(const kfe_i_cost *cost, const kfe_i_decay *decay);
/* Conjugate gradients with the best rank up to `most`, which *rank receives. */
double kfe_i_cg_seconds(const kfe_i_cost *cost, const kfe_i_decay *decay, int64_t most, int64_t *rank);
/* Iterations until the error has fallen by `tolerance`, for this condition number. */
double kfe_i_cg_iterations(double condition, double tolerance);

#endif
