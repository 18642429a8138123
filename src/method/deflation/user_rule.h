/* SPDX-License-Identifier: Apache-2.0 */
/* The framework with a rule of the user's. */
#ifndef KFE_METHOD_DEFLATION_USER_RULE_H
#define KFE_METHOD_DEFLATION_USER_RULE_H

#include "method/method.h"

enum { KFE_RULE_NAME_SIZE = 64 };

typedef struct kfe_i_user_rule_settings {
    int64_t dim;
    int center;
    /* not parameters, but copied with them */
    char name[KFE_RULE_NAME_SIZE];
    kfe_rule_fn rule;
    void *user;
} kfe_i_user_rule_settings;

/* Not in the table: a specification has a copy of its own, under the user's name. */
extern const kfe_i_method kfe_i_method_user_rule;

#endif
