/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Predict with a kfe_i_predictor, the classifier or regressor that every learner returns. It turns features z into outputs
 * (decision values), and outputs into a class or a value. All learners share four kinds:
 *     linear       outputs = Wᵀz − offset
 *     expansion    outputs = Wᵀκ(S, z) − offset, where S are the rows of `support`
 *     neighbours   outputs = votes of the nearest rows of `support`
 *     direct       outputs = z: the projector computes the decision values itself (an SVM fitted on a Gram operator,
 *                  whose coefficients and offset are the projector's)
 */
#ifndef KFE_LEARN_PREDICTOR_H
#define KFE_LEARN_PREDICTOR_H

#include "data/table/table.h"
#include "data/target/target.h"
#include "kernel/kernel.h"

typedef enum kfe_i_predictor_kind {
    KFE_PREDICTOR_LINEAR,
    KFE_PREDICTOR_EXPANSION,
    KFE_PREDICTOR_NEIGHBOURS,
    KFE_PREDICTOR_DIRECT
} kfe_i_predictor_kind;
#define KFE_PREDICTOR_WORDS "linear|expansion|neighbours|direct"

/* How outputs become an answer. */
typedef enum kfe_i_decision {
    KFE_DECIDE_VALUE,   /* the outputs are the answer: one per target column */
    KFE_DECIDE_LARGEST, /* one output per class; the largest wins, the first of equals */
    KFE_DECIDE_PAIRS, /* one output per pair (0,1) (0,2) … (c−2,c−1): above 0 it is a vote for the first class, else for
                           the second; most votes win, of equals the largest sum of margins */
    KFE_DECIDE_CHAIN /* c − 1 outputs: class g if output g is the first above 0, else the last class */
} kfe_i_decision;
#define KFE_DECISION_WORDS "value|largest|pairs|chain"

/* A number about the fit, kept with the model: "objective", "gap", "rank", … The name is a literal. */
typedef struct kfe_i_predictor_number {
    const char *name;
    double value;
} kfe_i_predictor_number;
enum { KFE_PREDICTOR_RECORDS = 4 };

typedef struct kfe_i_predictor {
    kfe_context *ctx;
    kfe_i_predictor_kind kind;
    kfe_i_decision decision;
    int64_t dim;         /* features in */
    int64_t outputs;     /* decision values out */
    int64_t classes;     /* 0: real targets */
    int64_t rows;        /* linear: dim; expansion, neighbours: support rows; direct: examples (fit) or 0 */
    double *weights;     /* rows × outputs; NULL for neighbours */
    double *offset;      /* outputs; NULL: zeros */
    kfe_i_kernel kernel; /* expansion */
    kfe_i_table support; /* expansion, neighbours */
    double *answers;     /* neighbours: class of each support row, or its rows × outputs values */
    int64_t neighbours;  /* neighbours: how many vote */
    int by_distance;     /* neighbours: votes have weight 1/distance */
    int64_t support_vectors; /* number of support examples; -1: not applicable */
    kfe_i_predictor_number records[KFE_PREDICTOR_RECORDS];
    int record_count;
} kfe_i_predictor;

void kfe_i_predictor_free(kfe_i_predictor *predictor);

/* For learners: a zeroed predictor with room for rows × outputs weights and the offset, both zeroed. Rows 0: neither. */
kfe_status kfe_i_predictor_begin(kfe_context *ctx, kfe_i_predictor_kind kind, kfe_i_decision decision,
                                 int64_t dim, int64_t outputs, int64_t rows, kfe_i_predictor *out);

/* Keeps a number about the fit; the model saves it as the record "learner-NAME". */
void kfe_i_predictor_record(kfe_i_predictor *predictor, const char *name, double value);

/* out (rows × outputs) = decision values of features (dense or csr, as many columns as dim). */
kfe_status kfe_i_predictor_outputs(kfe_context *ctx, const kfe_i_predictor *predictor,
                                   const kfe_i_table *features, double *out);
/* The number of outputs of a decision over `classes` classes. */
int64_t kfe_i_decision_outputs(kfe_i_decision decision, int64_t classes);
/* The class that one row of outputs decides for; -1: real targets. */
int32_t kfe_i_predictor_decide(const kfe_i_predictor *predictor, const double *outputs);
/* What rows of outputs mean: class numbers, one per row, or the outputs themselves. */
void kfe_i_predictor_answers(const kfe_i_predictor *predictor, const double *outputs, int64_t rows,
                             double *answers);
/* Writes scores[classes]; higher scores mean more likely. They are for ROC curves and areas under them:
 *     largest   the outputs
 *     chain     the smallest margin on the way to the class
 *     pairs     votes, plus a fraction from the summed margins that orders equal votes */
void kfe_i_predictor_class_scores(const kfe_i_predictor *predictor, const double *outputs, double *scores);
/* Nonzero if there is one decision value per class, above zero for members of the class. Votes of neighbours are
 * not decision values. */
int kfe_i_predictor_is_one_vs_rest(const kfe_i_predictor *predictor);

#endif
