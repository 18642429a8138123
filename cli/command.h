/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Add a command: write a file in commands/ that ends in `const cli_command cli_command_NAME`, and a row in
 * commands.def. Help, man page and completion are made from it.
 */
#ifndef KFE_CLI_COMMAND_H
#define KFE_CLI_COMMAND_H

#include "flags.h"
#include "kfe.h"

typedef struct cli_session {
    kfe_context *ctx;
    const struct cli_command *command;
    cli_arguments arguments;
    int quiet, json;
    cli_text problem;  /* why the command failed, where the library does not know */
    cli_text warnings; /* that were printed, one per line */
    char **words;      /* of the command line, after the name of the command */
    int word_count;
    cli_text said; /* the last line of the log: fits that are alike warn alike */
} cli_session;

enum {
    CLI_USES_READING = 1u << 0, /* takes the flags of reading data */
    CLI_USES_FITTING = 1u << 1, /* takes the flags of fitting */
    CLI_SHOWS_NOTICES = 1u << 2 /* prints notices: how many fits lie ahead, and what was decided */
};

/* A member of a family that the command line chooses; its parameters are flags as well. */
typedef struct cli_choice {
    const cli_family *family; /* NULL: no choice */
    const char *flag;         /* names the member; NULL: the first operand does */
} cli_choice;

typedef struct cli_command {
    const char *name;
    const char *summary;  /* one line */
    const char *operands; /* what follows the name in the usage line */
    const char *description;
    const char *examples; /* whole lines, or NULL */
    const cli_flag *flags;
    unsigned uses;
    const kfe_param_info *(*option)(int index); /* a table of the library that are flags too; may be NULL */
    const char *option_title;
    cli_choice choices[CLI_MOST_CHOICES];
    kfe_status (*run)(cli_session *session);
} cli_command;

extern const cli_flag cli_common_flags[];

/* The commands of the program, which its entry point defines; NULL past the end. */
const cli_command *cli_command_at(int index);
/* NULL if there is none by that name. */
const cli_command *cli_command_find(const char *name);

#define CLI_COMMAND(name) extern const cli_command cli_command_##name;
#include "commands/commands.def"
#undef CLI_COMMAND

/* Rows of flag tables. */
#define CLI_LETTER_SWITCH(flag_name, short_form, text)                                                       \
    {                                                                                                        \
        .info = {.name = (flag_name), .type = KFE_PARAM_FLAG, .initial = "no", .help = (text)},              \
        .letter = (short_form)                                                                               \
    }
#define CLI_SWITCH(flag_name, text) CLI_LETTER_SWITCH(flag_name, 0, text)
#define CLI_INT(flag_name, value, lowest, highest, text)                                                     \
    {                                                                                                        \
        .info = {                                                                                            \
            .name = (flag_name),                                                                             \
            .type = KFE_PARAM_INT,                                                                           \
            .initial = (value),                                                                              \
            .min = (lowest),                                                                                 \
            .max = (highest),                                                                                \
            .help = (text)                                                                                   \
        }                                                                                                    \
    }
#define CLI_TEXT(flag_name, short_form, value_name, text)                                                    \
    {                                                                                                        \
        .info = {.name = (flag_name), .type = KFE_PARAM_TEXT, .initial = "", .help = (text)},                \
        .metavar = (value_name), .letter = (short_form)                                                      \
    }
/* The file of a model: -o, --output or --save in every command that writes one. */
#define CLI_SAVED_MODEL(text)                                                                                \
    {                                                                                                        \
        .info = {.name = "output", .alias = "save", .type = KFE_PARAM_TEXT, .initial = "", .help = (text)},  \
        .metavar = "MODEL", .letter = 'o'                                                                    \
    }
#define CLI_JSON CLI_SWITCH("json", "print the result as JSON on standard output")
#define CLI_METHOD CLI_TEXT("method", 'm', "METHOD", "the method; 'kfe methods' lists them")
#define CLI_KERNEL                                                                                           \
    CLI_TEXT(                                                                                                \
        "kernel", 'k', "KERNEL",                                                                             \
        "the kernel, as name or name:key=value,…; 'kfe kernels' lists them; several make a weighted sum")
#define CLI_LEARNER(help) CLI_TEXT("learner", 0, "LEARNER", help)
#define CLI_GRID                                                                                             \
    CLI_TEXT(                                                                                                \
        "grid", 0, "NAME=VALUES",                                                                            \
        "values to try for a parameter of the kernel, the method or the learner: a,b,c, or lo:hi (whole "    \
        "numbers), or lo:hi:logN or lo:hi:linN (N values). kernel=a,b or learner=a,b tries each of these. "  \
        "May be repeated")
#define CLI_VIEW                                                                                             \
    CLI_TEXT(                                                                                                \
        "view", 0, "NAME=FILE",                                                                              \
        "one more view of the same examples, and its name; may be repeated. A view without a name is named " \
        "after its file, without folder and extension. Only the last file may have a label column. "         \
        "With a single file, NAME=COLUMNS (such as fac=1-216 or fac=fac_*, written as for --drop) makes a "  \
        "view from some of its columns")
/* Beside --train, which cli_read_flag_data reads. */
#define CLI_TRAIN_LABELS                                                                                     \
    CLI_TEXT("train-labels", 0, "FILE",                                                                      \
             "the labels of the training examples, if they are in a file of their own")
#define CLI_VIEW_KERNEL                                                                                      \
    CLI_TEXT(                                                                                                \
        "view-kernel", 0, "NAME=KERNEL",                                                                     \
        "the kernel of this view only; may be repeated, also for the same view; -k is for the other views")
#define CLI_FLAGS_END                                                                                        \
    {                                                                                                        \
        .info = {.name = NULL }                                                                              \
    }

/* In functions with `kfe_status status` and a `cleanup:` label. */
#define CLI_TRY(call)                                                                                        \
    do {                                                                                                     \
        status = (call);                                                                                     \
        if (status != KFE_OK)                                                                                \
            goto cleanup;                                                                                    \
    } while (0)

/* Records why and returns KFE_EINVAL. */
kfe_status cli_fail(cli_session *session, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What the entry point of a program calls: first of all, with all words of the command line; */
void cli_begin(char **argv);
/* then to run a command with the words behind its name; returns the exit status of the program; */
int cli_run(const cli_command *command, int argc, char **argv);
/* and at the end: closes standard output, and returns another exit status where that fails. */
int cli_close_output(int exit_status);
enum { CLI_EXIT_WRONG_USE = 2 };

/* Fails unless there are between `min` and `max` operands; `what` names them. */
kfe_status cli_check_operands(cli_session *session, int min, int max, const char *what);

#endif
