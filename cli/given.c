/* SPDX-License-Identifier: Apache-2.0 */
/* What a command line gave: values of flags, and the options of the library among them. Commands ask after flags.c parsed it. */
#include <string.h>

#include "flags.h"

const char *cli_value_at(const cli_arguments *arguments, const char *name, int index)
{
    for (int i = 0; i < arguments->flag_count; i++) {
        const cli_occurrence *flag = &arguments->flags[i];
        int ours = flag->source == CLI_OWN || flag->source == CLI_COMMON;
        if (ours && strcmp(flag->name, name) == 0 && index-- == 0)
            return flag->value;
    }
    return NULL;
}

const char *cli_value(const cli_arguments *arguments, const char *name)
{
    const char *value = NULL;
    const char *next;

    for (int i = 0; (next = cli_value_at(arguments, name, i)) != NULL; i++)
        value = next;
    return value;
}

int cli_is_set(const cli_arguments *arguments, const char *name)
{
    const char *value = cli_value(arguments, name);
    return value && strcmp(value, "yes") == 0;
}

int cli_option_given(const cli_arguments *arguments, cli_source source, const char *name)
{
    for (int i = 0; i < arguments->flag_count; i++)
        if (arguments->flags[i].source == source && strcmp(arguments->flags[i].name, name) == 0)
            return 1;
    return 0;
}

void cli_options_of(const cli_arguments *arguments, cli_source source, cli_text *out)
{
    for (int i = 0; i < arguments->flag_count; i++)
        if (arguments->flags[i].source == source)
            cli_text_option(out, arguments->flags[i].name, arguments->flags[i].value);
}
