/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call kfe_i_multiclass_each to turn a classifier for two classes into one for several. It calls a function for each
 * problem of two classes, with the examples of the problem and a sign for each; the function fills one column of outputs,
 * above zero for +1:
 *     ovo     every pair of classes; the first one is +1
 *     ovr     every class (+1) against all others
 *     chain   class 0 against all others, then, among those, class 1 against the rest, and so on (Park & Park 2002, 4.3)
 * Two classes are one problem, whatever the choice: class 0 is +1.
 */
#ifndef KFE_LEARN_MULTICLASS_H
#define KFE_LEARN_MULTICLASS_H

#include "data/target/class_weights.h"
#include "learn/predictor.h"

typedef enum kfe_i_multiclass {
    KFE_MULTICLASS_OVO,
    KFE_MULTICLASS_OVR,
    KFE_MULTICLASS_CHAIN
} kfe_i_multiclass;
#define KFE_MULTICLASS_WORDS "ovo|ovr|chain"

/* One problem of two classes. */
typedef struct kfe_i_binary {
    int64_t output;      /* the column of outputs that it fills */
    int64_t count;       /* examples in it */
    const int64_t *rows; /* the rows of these examples, increasing */
    const double *sign;  /* +1 or −1 for each of them */
    /* The mean class weight of the examples with +1 and with −1: a side of several classes counts as its classes do. */
    double positive_weight, negative_weight;
} kfe_i_binary;

typedef kfe_status (*kfe_i_binary_fn)(kfe_context *ctx, void *user, const kfe_i_binary *binary);

kfe_i_decision kfe_i_multiclass_decision(kfe_i_multiclass choice, int64_t classes);

/* Calls `train` once for each output of this decision. class_weights NULL: ones. */
kfe_status kfe_i_multiclass_each(kfe_context *ctx, const kfe_i_target *target, kfe_i_decision decision,
                                 const double *class_weights, kfe_i_binary_fn train, void *user);

/* The same problems class by class: signs (outputs × classes) receives +1, −1, or 0 for a class that is not in the problem. */
void kfe_i_multiclass_signs(kfe_i_decision decision, int64_t classes, signed char *signs);

/* ---- class weights ---- */

#define KFE_CLASS_WEIGHTS_ROW(type, field)                                                                   \
    KFE_TEXT(type, field, "class-weights", KFE_CLASS_WEIGHTS_NONE,                                           \
             "factor of C for each class: none, balanced (n/(classes·members)), or NAME:WEIGHT;NAME:WEIGHT")

#endif
