/* SPDX-License-Identifier: Apache-2.0 */
/* Checks keys and types of JSON objects (keys.h). Called by rules.c. */
#include "reproduce/src/keys.h"

#include <string.h>

/* ---- types ---- */

static int all_are(const json_t *array, int (*is)(const json_t *))
{
    for (size_t i = 0; i < json_array_size(array); i++)
        if (!is(json_array_get(array, i)))
            return 0;
    return json_is_array(array);
}

static int is_string(const json_t *value)
{
    return json_is_string(value);
}

static int is_number(const json_t *value)
{
    return json_is_number(value);
}

static int is_boolean(const json_t *value)
{
    return json_is_boolean(value);
}

static int is_object(const json_t *value)
{
    return json_is_object(value);
}

static int is_settings(const json_t *value)
{
    const char *key;
    json_t *setting;

    json_object_foreach((json_t *)(uintptr_t)value, key, setting)
    {
        if (!json_is_string(setting) && !json_is_number(setting) && !json_is_boolean(setting))
            return 0;
    }
    return json_is_object(value);
}

int rep_is_string_array(const json_t *value)
{
    return all_are(value, is_string);
}

static int is_number_array(const json_t *value)
{
    return all_are(value, is_number);
}

static int is_object_array(const json_t *value)
{
    return all_are(value, is_object);
}

typedef struct value_type {
    char letter;
    int (*fits)(const json_t *value);
    const char *name;
} value_type;

static const value_type types[] = {
    {'s', is_string, "a string"},
    {'n', is_number, "a number"},
    {'b', is_boolean, "true or false"},
    {'o', is_settings, "an object of strings, numbers, true and false"},
    {'m', is_object, "an object"},
    {'t', rep_is_string_array, "an array of strings"},
    {'r', is_number_array, "an array of numbers"},
    {'a', is_object_array, "an array of objects"},
};

static const value_type *type_of(char letter)
{
    const value_type *type = types;

    while (type->letter != letter)
        type++;
    return type;
}

/* ---- keys ---- */

static const rep_key *find_key(const rep_key *keys, const char *name)
{
    for (; keys->name; keys++)
        if (strcmp(keys->name, name) == 0)
            return keys;
    return NULL;
}

static kfe_status check_value(const rep_plan *plan, const char *where, const rep_key *key,
                              const json_t *value)
{
    const char *letters = key->types;

    for (const char *letter = letters; *letter; letter++)
        if (type_of(*letter)->fits(value))
            return KFE_OK;
    return rep_plan_fail(plan, where, "\"%s\" takes %s%s%s", key->name, type_of(letters[0])->name,
                         letters[1] ? " or " : "", letters[1] ? type_of(letters[1])->name : "");
}

static kfe_status fail_unknown(const rep_plan *plan, const char *where, const char *name, const rep_key *keys)
{
    rep_text known = {0};

    for (; keys->name; keys++)
        rep_text_printf(&known, "%s%s", known.length > 0 ? ", " : "", keys->name);
    kfe_status status =
        rep_plan_fail(plan, where, "unknown key \"%s\"; the keys are %s", name, rep_text_string(&known));
    rep_text_free(&known);
    return status;
}

kfe_status rep_check_keys(const rep_plan *plan, const char *where, const json_t *object, const rep_key *keys)
{
    kfe_status status = KFE_OK;
    const char *name;
    json_t *value;

    json_object_foreach((json_t *)(uintptr_t)object, name, value)
    {
        const rep_key *key = find_key(keys, name);
        if (!key)
            return fail_unknown(plan, where, name, keys);
        REP_TRY(check_value(plan, where, key, value));
    }
    for (; keys->name; keys++)
        if (keys->needed && !json_object_get(object, keys->name))
            return rep_plan_fail(plan, where, "the key \"%s\" is missing", keys->name);
cleanup:
    return status;
}
