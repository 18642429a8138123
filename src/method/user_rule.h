/* SPDX-License-Identifier: Apache-2.0 */
/* Fit with a direction rule of the user. */
#ifndef KFE_METHOD_USER_RULE_H
#define KFE_METHOD_USER_RULE_H

#include "method/method.h"

enum { KFE_RULE_NAME_SIZE = 64 };

typedef struct kfe_i_user_rule_settings {
    int64_t dim;
    int center;
    /* not parameters, but copied with the settings */
    char name[KFE_RULE_NAME_SIZE];
    kfe_rule_fn rule;
    void *user;
} kfe_i_user_rule_settings;

/* Not in methods.def: a spec has its own copy, under the name that the user gives. */
extern const kfe_i_method kfe_i_method_user_rule;

#endif
