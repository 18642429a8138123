/* SPDX-License-Identifier: Apache-2.0 */
/* Put small plans for `kfe reproduce` together and run them. */
#ifndef KFE_TESTS_SUPPORT_PLAN_H
#define KFE_TESTS_SUPPORT_PLAN_H

#include <jansson.h>

#include "kfe.h"
#include "reproduce/src/reproduce.h"

#define HEAD "\"title\": \"t\", \"paper\": \"p\""
#define KNN "{\"name\": \"K\", \"method\": \"koc\", \"kernel\": \"rbf:gamma=0.2\", \"learner\": \"knn\"}"
#define SLABS "{\"name\": \"S\", \"generate\": \"slabs\", \"options\": {\"per-class\": 20}}"

#define PATH                                                                                                 \
    "{" HEAD ", \"kind\": \"path\", \"over\": {\"name\": \"k\", \"values\": [1, 3, 9]}, \"columns\": "
#define SMC "\"name\": \"C\", \"method\": \"smc\", \"kernel\": \"linear\", \"params\": {\"dim\": 5}"
#define REAL "{\"name\": \"R\", \"generate\": \"sma-cost\", \"options\": {\"n\": 30, \"features\": 60}}"

/* Runs a plan and returns what it found as JSON, for json_decref. settings NULL: the defaults. */
json_t *support_reproduce(kfe_context *ctx, const char *text, const rep_settings *settings);
/* One entry of the results, and one of its numbers; the test fails if either is missing. */
const json_t *support_result(const json_t *found, size_t index);
double support_result_number(const json_t *result, const char *key);

#endif
