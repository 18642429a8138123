/* SPDX-License-Identifier: Apache-2.0 */
/* Finds and starts the programs that are called as commands of kfe. Called by main.c and the help. */
#include "external.h"

#include <stdio.h>
#include <string.h>

#include "system/system.h"

static const struct {
    const char *name, *summary;
} programs[] = {
    {"reproduce", "compute the tables and figures of the papers again"},
};

int cli_external_at(int index, const char **name, const char **summary)
{
    if (index < 0 || (size_t)index >= sizeof programs / sizeof *programs)
        return 0;
    *name = programs[index].name;
    *summary = programs[index].summary;
    return 1;
}

int cli_external_run(const char *name, char **words)
{
    const char *known = NULL;
    const char *summary;
    char folder[KFE_PATH_SIZE];
    char program[64];
    char path[KFE_PATH_SIZE + sizeof program];

    for (int i = 0; cli_external_at(i, &known, &summary); i++)
        if (strcmp(known, name) == 0)
            break;
    if (!known || strcmp(known, name) != 0)
        return 0;
    snprintf(program, sizeof program, "kfe-%s", name);
    kfe_i_own_folder(folder);
    snprintf(path, sizeof path, "%s%s", folder, program);
    words[0] = program;
    if (folder[0])
        kfe_i_become(path, words);
    kfe_i_become(program, words);
    fprintf(stderr,
            "kfe: %s needs the program %s, which is neither beside kfe nor in PATH; the sources build it if "
            "jansson is installed\n",
            name, program);
    return 1;
}
