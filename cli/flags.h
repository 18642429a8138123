/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parse a command line into flags and operands. The flags come from tables: the command's own, those common to all
 * commands, and the parameter tables of the library (reading, fitting, the chosen method, learner or generator).
 * Help, man pages and completion list the same tables.
 */
#ifndef KFE_CLI_FLAGS_H
#define KFE_CLI_FLAGS_H

#include "kfe.h"
#include "text.h"

typedef struct cli_flag {
    kfe_param_info info;
    const char *metavar; /* name of the value in help; NULL: one for its type */
    char letter;         /* the short form; 0: none */
    int hidden;          /* not shown in help */
} cli_flag;

/* A table of the library whose entries have parameters. */
typedef struct cli_family {
    const char *noun;                          /* "method" */
    const char *listing;                       /* the command that lists the entries */
    const kfe_entry_info *(*entry)(int index); /* NULL past the end */
    const kfe_param_info *(*param)(int index, int param);
    kfe_status (*as_json)(kfe_context *ctx, const char *name, char **out);
} cli_family;

extern const cli_family cli_methods, cli_kernels, cli_generators, cli_learners, cli_steps;

/* The index of the entry with this name (up to a ':'), or -1. */
int cli_family_find(const cli_family *family, const char *name);
/* Writes " (did you mean X?)" for an unknown name, or "" if no name is similar, into `out` and returns it. */
const char *cli_family_suggest(const cli_family *family, const char *name, char *out, size_t size);

enum { CLI_MOST_CHOICES = 2 };

/* Which table a flag comes from. CLI_CHOICE + i: the parameters of the entry that the command's choice i names. */
typedef enum cli_source {
    CLI_OWN,
    CLI_COMMON,
    CLI_READING,
    CLI_FITTING,
    CLI_OPTIONS,
    CLI_CHOICE,
    CLI_LAST_CHOICE = CLI_CHOICE + CLI_MOST_CHOICES - 1
} cli_source;
enum { CLI_SOURCE_COUNT = CLI_LAST_CHOICE + 1 };

struct cli_command;

/* Row `row` of the flags that `command` takes from `source`; where the source is a choice, `entry` is the index of
 * the chosen entry. Returns 0 past the end. */
int cli_flag_at(const struct cli_command *command, cli_source source, int entry, int row, cli_flag *out);
/* The name as users type it, without the leading dashes; underscores become dashes. */
void cli_flag_name(const cli_flag *flag, char *out, size_t size);
/* "METHOD", "N", …; NULL when the flag takes no value. */
const char *cli_flag_metavar(const cli_flag *flag);
/* Help, range, words and default in one line. */
void cli_flag_text(const cli_flag *flag, cli_text *out);

typedef struct cli_occurrence {
    cli_source source;
    const char *name, *value;
} cli_occurrence;

typedef struct cli_arguments {
    int entries[CLI_MOST_CHOICES]; /* the chosen entry of each choice; -1: none */
    cli_occurrence *flags;
    int flag_count;
    const char **operands;
    int operand_count;
} cli_arguments;

/* Returns 0 if the command line is wrong; `problem` then says why. */
int cli_arguments_parse(const struct cli_command *command, int argc, char **argv, cli_arguments *out,
                        cli_text *problem);
/* The chosen entry of a source, or -1. */
int cli_entry_of(const cli_arguments *arguments, cli_source source);
void cli_arguments_free(cli_arguments *arguments);

/* The last value given for a flag of the command or a common one; NULL if there is none. */
const char *cli_value(const cli_arguments *arguments, const char *name);
/* The index-th value of a flag that may be repeated; NULL past the end. */
const char *cli_value_at(const cli_arguments *arguments, const char *name, int index);
int cli_is_set(const cli_arguments *arguments, const char *name);
int cli_option_given(const cli_arguments *arguments, cli_source source, const char *name);
/* Appends the flags that were given for one source as "key=value,…", the options of the library. */
void cli_options_of(const cli_arguments *arguments, cli_source source, cli_text *out);

#endif
