/* SPDX-License-Identifier: Apache-2.0 */
/* Check the keys of a JSON object and the types of their values against a list of rules. */
#ifndef REP_KEYS_H
#define REP_KEYS_H

#include "reproduce/src/plan.h"

/*
 * `types` lists the types that a value may have, one letter each:
 *     s  string                  n  number
 *     b  true or false           o  object of strings, numbers, true and false
 *     m  object                  t  array of strings
 *     r  array of numbers        a  array of objects
 */
typedef struct rep_key {
    const char *name, *types;
    int needed;
} rep_key;

/* `keys` ends with a row of NULL. `where` names the object in messages. */
kfe_status rep_check_keys(const rep_plan *plan, const char *where, const json_t *object, const rep_key *keys);
int rep_is_string_array(const json_t *value);

#endif
