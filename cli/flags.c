/* SPDX-License-Identifier: Apache-2.0 */
/* Parses command lines against tables of flags; main.c parses with it, and help, man pages and completion
 * list the same flags. */
#include "flags.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

enum { NAME_SIZE = 64 };

const cli_family cli_methods = {"method", "methods", kfe_method, kfe_method_param, kfe_list_methods};
const cli_family cli_kernels = {"kernel", "kernels", kfe_kernel, kfe_kernel_param, kfe_list_kernels};
const cli_family cli_generators = {"generator", "generate --list", kfe_generator, kfe_generator_param,
                                   kfe_list_generators};
const cli_family cli_steps = {"step", "steps", kfe_step, kfe_step_param, kfe_list_steps};
const cli_family cli_learners = {"learner", "learners", kfe_learner, kfe_learner_param, kfe_list_learners};

int cli_family_find(const cli_family *family, const char *name)
{
    const kfe_entry_info *info;
    size_t length = strcspn(name, ":");

    for (int i = 0; (info = family->entry(i)); i++)
        if (strlen(info->name) == length && strncmp(info->name, name, length) == 0)
            return i;
    return -1;
}

const char *cli_family_suggest(const cli_family *family, const char *name, char *out, size_t size)
{
    const kfe_entry_info *info;
    cli_suggestion suggestion = {NULL, 0};

    for (int i = 0; (info = family->entry(i)); i++)
        cli_suggest(&suggestion, name, info->name);
    out[0] = '\0';
    if (suggestion.best)
        snprintf(out, size, " (did you mean %s?)", suggestion.best);
    return out;
}

/* ---- one flag ---- */

static int table_row(const cli_flag *table, int row, cli_flag *out)
{
    if (!table || !table[row].info.name)
        return 0;
    *out = table[row];
    return 1;
}

static const cli_family *family_of(const cli_command *command, cli_source source)
{
    return source < CLI_CHOICE ? NULL : command->choices[source - CLI_CHOICE].family;
}

/* A flag of fitting, unless an option of the command has its name and stands for both. */
static const kfe_param_info *fitting_row(const cli_command *command, int row)
{
    const kfe_param_info *info;
    const kfe_param_info *own;

    for (int i = 0; (info = kfe_fit_option(i)); i++) {
        int is_hidden = 0;
        for (int j = 0; command->option && (own = command->option(j)); j++)
            is_hidden |= strcmp(own->name, info->name) == 0;
        if (!is_hidden && row-- == 0)
            return info;
    }
    return NULL;
}

int cli_flag_at(const cli_command *command, cli_source source, int entry, int row, cli_flag *out)
{
    const kfe_param_info *info = NULL;
    const cli_family *family = family_of(command, source);

    switch (source) {
    case CLI_OWN:
        return table_row(command->flags, row, out);
    case CLI_COMMON:
        return table_row(cli_common_flags, row, out);
    case CLI_READING:
        info = command->uses & CLI_USES_READING ? kfe_read_option(row) : NULL;
        break;
    case CLI_FITTING:
        info = command->uses & CLI_USES_FITTING ? fitting_row(command, row) : NULL;
        break;
    case CLI_OPTIONS:
        info = command->option ? command->option(row) : NULL;
        break;
    case CLI_CHOICE:
    case CLI_LAST_CHOICE:
        info = family && entry >= 0 ? family->param(entry, row) : NULL;
        break;
    }
    if (!info)
        return 0;
    *out = (cli_flag){.info = *info};
    return 1;
}

void cli_flag_name(const cli_flag *flag, char *out, size_t size)
{
    snprintf(out, size, "%s", flag->info.name);
    for (char *c = out; *c; c++)
        if (*c == '_')
            *c = '-';
}

const char *cli_flag_metavar(const cli_flag *flag)
{
    if (flag->info.type == KFE_PARAM_FLAG)
        return NULL;
    if (flag->metavar)
        return flag->metavar;
    return flag->info.type == KFE_PARAM_INT      ? "N"
           : flag->info.type == KFE_PARAM_REAL   ? "X"
           : flag->info.type == KFE_PARAM_CHOICE ? "WORD"
                                                 : "TEXT";
}

static void add_range(const kfe_param_info *info, cli_text *out)
{
    const double unbounded = 9007199254740992.0; /* 2^53: what a table writes for "no bound" */
    int low = info->min > -unbounded;
    int high = info->max < unbounded;

    cli_text_add(out, info->type == KFE_PARAM_INT ? "integer" : "number");
    if (low && info->min > 0 && info->min <= DBL_MIN)
        cli_text_add(out, " above 0");
    else if (low)
        cli_text_printf(out, " from %.10g", info->min);
    if (high)
        cli_text_printf(out, " to %.10g", info->max);
    else if (low && info->min != DBL_MIN)
        cli_text_add(out, " up");
}

static void add_words(const char *words, cli_text *out)
{
    for (const char *c = words; *c; c++)
        cli_text_printf(out, *c == '|' ? ", " : "%c", *c);
}

static void add_metrics(cli_text *out)
{
    const kfe_entry_info *metric;

    for (int i = 0; (metric = kfe_metric(i)); i++)
        cli_text_printf(out, "%s%s", i ? ", " : "", metric->name);
}

void cli_flag_text(const cli_flag *flag, cli_text *out)
{
    const kfe_param_info *info = &flag->info;
    int number = info->type == KFE_PARAM_INT || info->type == KFE_PARAM_REAL;
    int has_default = info->initial && info->initial[0] && info->type != KFE_PARAM_FLAG;
    int default_yes = info->type == KFE_PARAM_FLAG && info->initial && strcmp(info->initial, "yes") == 0;
    const char *separator = " (";

    cli_text_add(out, info->help ? info->help : "");
    if (number) {
        cli_text_add(out, separator);
        add_range(info, out);
        separator = "; ";
    }
    if (info->words && info->type != KFE_PARAM_TEXT) {
        cli_text_printf(out, "%s%s", separator, number ? "or " : "");
        add_words(info->words, out);
        separator = "; ";
    }
    if (strcmp(info->name, "metrics") == 0) {
        cli_text_add(out, separator);
        add_metrics(out);
        separator = "; ";
    }
    if (has_default || default_yes) {
        cli_text_printf(out, "%sdefault %s", separator, info->initial);
        separator = "; ";
    }
    if (default_yes) {
        char name[NAME_SIZE];
        cli_flag_name(flag, name, sizeof name);
        cli_text_printf(out, "; --%s no turns it off", name);
    }
    if (separator[0] == ';')
        cli_text_add(out, ")");
}

/* ---- the command line ---- */

typedef struct parser {
    const cli_command *command;
    int argc, next;
    char **argv;
    cli_arguments *out;
    cli_text *problem;
} parser;

static int same_name(const char *row_name, const char *typed, size_t length)
{
    if (strlen(row_name) != length)
        return 0;
    for (size_t i = 0; i < length; i++)
        if (row_name[i] != typed[i] && !(row_name[i] == '_' && typed[i] == '-'))
            return 0;
    return 1;
}

static int find_in(const cli_command *command, cli_source source, int entry, const char *typed, size_t length,
                   cli_flag *out)
{
    for (int row = 0; cli_flag_at(command, source, entry, row, out); row++)
        if (length == 0 ? out->letter != 0 && out->letter == *typed
                        : same_name(out->info.name, typed, length) ||
                              (out->info.alias && same_name(out->info.alias, typed, length)))
            return 1;
    return 0;
}

/* Finds the flag in any entry of a table. */
static int find_in_family(const parser *p, cli_source source, const char *typed, size_t length, cli_flag *out)
{
    const cli_family *family = family_of(p->command, source);

    for (int i = 0; family && family->entry(i); i++)
        if (find_in(p->command, source, i, typed, length, out))
            return 1;
    return 0;
}

/* Finds a flag by name, or by letter if length is 0. A flag of a method may stand before the method is named, so
 * all entries of the tables are searched as well. */
static int find_flag(const parser *p, const char *typed, size_t length, cli_source *source, cli_flag *out)
{
    for (int s = 0; s < CLI_SOURCE_COUNT; s++) {
        *source = (cli_source)s;
        if (find_in(p->command, *source, cli_entry_of(p->out, *source), typed, length, out))
            return 1;
    }
    for (int s = CLI_CHOICE; s < CLI_SOURCE_COUNT; s++) {
        *source = (cli_source)s;
        if (find_in_family(p, *source, typed, length, out))
            return 1;
    }
    return 0;
}

typedef struct near_flag {
    char name[NAME_SIZE];
    cli_suggestion suggestion;
} near_flag;

static void consider_flags(const parser *p, cli_source source, int entry, const char *typed,
                           near_flag *nearest)
{
    cli_flag flag;

    for (int row = 0; cli_flag_at(p->command, source, entry, row, &flag); row++) {
        char name[NAME_SIZE];
        cli_flag_name(&flag, name, sizeof name);
        cli_suggest(&nearest->suggestion, typed, name);
        if (nearest->suggestion.best == name) {
            memcpy(nearest->name, name, sizeof name);
            nearest->suggestion.best = nearest->name;
        }
    }
}

static void suggest_flag(const parser *p, const char *typed)
{
    near_flag nearest = {0};

    for (int s = 0; s < CLI_SOURCE_COUNT; s++) {
        int entry = cli_entry_of(p->out, (cli_source)s);
        const cli_family *family = family_of(p->command, (cli_source)s);
        consider_flags(p, (cli_source)s, entry, typed, &nearest);
        for (int i = 0; entry < 0 && family && family->entry(i); i++)
            consider_flags(p, (cli_source)s, i, typed, &nearest);
    }
    if (nearest.suggestion.best)
        cli_text_printf(p->problem, " (did you mean --%s?)", nearest.name);
}

static int kernel_has(int kernel, const char *name)
{
    const kfe_param_info *param;

    for (int row = 0; kernel >= 0 && (param = cli_kernels.param(kernel, row)) != NULL; row++)
        if (strcmp(param->name, name) == 0)
            return 1;
    return 0;
}

/* If the command takes kernels and a kernel has this parameter, explains how to write it: for the kernel that was given,
 * rbf or the first that has it. */
static int explain_kernel_param(const parser *p, const char *name, const char *value)
{
    const char *given = cli_value(p->out, "kernel");
    int kernel = given ? cli_family_find(&cli_kernels, given) : cli_family_find(&cli_kernels, "rbf");
    cli_flag flag;

    if (!find_in(p->command, CLI_OWN, -1, "kernel", strlen("kernel"), &flag))
        return 0;
    for (int i = 0; !kernel_has(kernel, name) && cli_kernels.entry(i); i++)
        kernel = i;
    if (!kernel_has(kernel, name))
        return 0;
    cli_text_printf(p->problem, "; parameters of a kernel follow its name: -k %s:%s=%s",
                    cli_kernels.entry(kernel)->name, name, value);
    return 1;
}

/* The value that stands after a flag, "VALUE" if there is none. */
static const char *typed_value(const parser *p, const char *argument, size_t length)
{
    if (argument[length] == '=' && argument[length + 1])
        return argument + length + 1;
    return p->next < p->argc && p->argv[p->next][0] != '-' ? p->argv[p->next] : "VALUE";
}

static int unknown_flag(const parser *p, const char *argument, size_t length)
{
    char typed[NAME_SIZE];

    cli_text_printf(p->problem, "%s has no flag '%.*s'", p->command->name, (int)length, argument);
    if (argument[1] == '-') {
        snprintf(typed, sizeof typed, "%.*s", (int)length - 2, argument + 2);
        if (explain_kernel_param(p, typed, typed_value(p, argument, length)))
            return 0;
        suggest_flag(p, cli_own_name(typed));
    }
    cli_text_printf(p->problem, "; 'kfe %s%s --help' lists its flags", p->command->name,
                    p->command->choices[0].family == &cli_methods ? " -m METHOD" : "");
    return 0;
}

static int unknown_entry(const parser *p, const cli_family *family, const char *name)
{
    char suggestion[NAME_SIZE + 32];

    cli_text_printf(p->problem, "there is no %s '%s'%s; 'kfe %s' lists them", family->noun, name,
                    cli_family_suggest(family, name, suggestion, sizeof suggestion), family->listing);
    return 0;
}

/* `flag` NULL: it was the first operand. */
static int choose_entry(parser *p, const char *flag, const char *name)
{
    for (int c = 0; c < CLI_MOST_CHOICES; c++) {
        const cli_choice *choice = &p->command->choices[c];
        int chooses = flag && choice->flag ? strcmp(flag, choice->flag) == 0 : !flag && !choice->flag;
        if (!choice->family || !chooses)
            continue;
        if (p->out->entries[c] >= 0) {
            cli_text_printf(p->problem, "%s takes one %s, but --%s is given twice%s", p->command->name,
                            choice->family->noun, flag,
                            choice->family == &cli_methods ? "; 'kfe compare' takes several" : "");
            return 0;
        }
        p->out->entries[c] = cli_family_find(choice->family, name);
        return p->out->entries[c] >= 0 || unknown_entry(p, choice->family, name);
    }
    return 1;
}

/* Checks the value of a flag of the command line; the library checks its own parameters. */
static int check_value(const parser *p, const cli_flag *flag, const char *value)
{
    const kfe_param_info *info = &flag->info;
    char *end = NULL;

    if (info->type == KFE_PARAM_FLAG && strcmp(value, "yes") != 0 && strcmp(value, "no") != 0) {
        cli_text_printf(p->problem, "--%s takes yes or no, not '%s'", info->name, value);
        return 0;
    }
    if (info->type != KFE_PARAM_INT)
        return 1;
    double number = strtod(value, &end);
    if (end == value || *end || !(number >= info->min && number <= info->max) || strpbrk(value, ".eExX")) {
        cli_text_printf(p->problem, "--%s takes an ", info->name);
        add_range(info, p->problem);
        cli_text_printf(p->problem, ", not '%s'", value);
        return 0;
    }
    return 1;
}

static int record(parser *p, cli_source source, const cli_flag *flag, const char *value)
{
    cli_arguments *out = p->out;

    if ((source == CLI_OWN || source == CLI_COMMON) && !check_value(p, flag, value))
        return 0;
    out->flags = cli_resize(out->flags, (size_t)out->flag_count + 1, sizeof *out->flags);
    out->flags[out->flag_count++] = (cli_occurrence){source, flag->info.name, value};
    return source != CLI_OWN || choose_entry(p, flag->info.name, value);
}

/* The value in the next argument. A flag that can stand alone takes only "yes" or "no" from there. */
static const char *following_value(parser *p, const cli_flag *flag)
{
    const char *next = p->next < p->argc ? p->argv[p->next] : NULL;

    if (flag->info.type == KFE_PARAM_FLAG && !(next && (strcmp(next, "yes") == 0 || strcmp(next, "no") == 0)))
        return "yes";
    if (next)
        p->next++;
    return next;
}

static int take_flag(parser *p, cli_source source, const cli_flag *flag, const char *value)
{
    if (!value)
        value = following_value(p, flag);
    if (value)
        return record(p, source, flag, value);
    cli_text_printf(p->problem, "--%s needs a value: ", flag->info.name);
    cli_flag_text(flag, p->problem);
    return 0;
}

static int parse_long(parser *p, const char *argument)
{
    cli_source source;
    cli_flag flag;
    size_t length = strcspn(argument + 2, "=");
    const char *value = argument[2 + length] == '=' ? argument + 2 + length + 1 : NULL;

    if (length == 0 || !find_flag(p, argument + 2, length, &source, &flag))
        return unknown_flag(p, argument, 2 + length);
    return take_flag(p, source, &flag, value);
}

/* "-m koc", "-mkoc", "-qv". */
static int parse_short(parser *p, const char *argument)
{
    for (const char *letter = argument + 1; *letter; letter++) {
        cli_source source;
        cli_flag flag;
        if (!find_flag(p, letter, 0, &source, &flag)) {
            char typed[3] = {'-', *letter, '\0'};
            return unknown_flag(p, typed, 2);
        }
        if (flag.info.type != KFE_PARAM_FLAG)
            return take_flag(p, source, &flag, letter[1] ? letter + 1 : NULL);
        if (!record(p, source, &flag, "yes"))
            return 0;
    }
    return 1;
}

static int add_operand(parser *p, const char *operand)
{
    cli_arguments *out = p->out;

    out->operands = cli_resize(out->operands, (size_t)out->operand_count + 1, sizeof *out->operands);
    out->operands[out->operand_count++] = operand;
    return out->operand_count > 1 || choose_entry(p, NULL, operand);
}

/* Says which entries have the flag: "--C is a flag of some learners (svm, linear-svm): choose one with --learner". */
static int refuse_without_choice(const parser *p, cli_source source, const char *name)
{
    const cli_choice *choice = &p->command->choices[source - CLI_CHOICE];
    const kfe_entry_info *info;
    cli_flag flag;
    const char *separator = "";

    cli_text_printf(p->problem, "--%s is a flag of some %ss (", name, choice->family->noun);
    for (int i = 0; (info = choice->family->entry(i)); i++)
        if (find_in(p->command, source, i, name, strlen(name), &flag)) {
            cli_text_printf(p->problem, "%s%s", separator, info->name);
            separator = ", ";
        }
    cli_text_printf(p->problem, "): choose one with --%s", choice->flag);
    return 0;
}

/* The flags that the chosen method, learner or generator has. */
static void list_flags(const parser *p, cli_source source)
{
    const char *separator = "; it has ";
    cli_flag flag;

    for (int row = 0; cli_flag_at(p->command, source, cli_entry_of(p->out, source), row, &flag); row++) {
        char name[NAME_SIZE];
        cli_flag_name(&flag, name, sizeof name);
        cli_text_printf(p->problem, "%s--%s", separator, name);
        separator = ", ";
    }
}

static int refuse_flag_of_other(const parser *p, cli_source source, const char *name)
{
    const cli_family *family = family_of(p->command, source);

    if (p->out->entries[source - CLI_CHOICE] < 0)
        return refuse_without_choice(p, source, name);
    cli_text_printf(p->problem, "%s %s has no flag --%s", family->noun,
                    family->entry(p->out->entries[source - CLI_CHOICE])->name, name);
    suggest_flag(p, name);
    list_flags(p, source);
    return 0;
}

/* Whether the command works without this choice. If not, the command itself reports that it is missing. */
static int is_optional(const parser *p, cli_source source)
{
    return source > CLI_CHOICE || p->command->choices[0].family == &cli_learners;
}

/* Assigns flags to the method or learner that was chosen, which may stand after them on the command line. A flag
 * that both reading and the chosen entry have belongs to the entry. */
static int settle_choices(const parser *p)
{
    const cli_arguments *out = p->out;
    cli_flag flag;

    for (int i = 0; i < out->flag_count; i++) {
        const char *name = out->flags[i].name;
        cli_source source = out->flags[i].source;
        int found = source < CLI_CHOICE && source != CLI_READING;
        for (int s = CLI_CHOICE; !found && s < CLI_SOURCE_COUNT; s++) {
            found = find_in(p->command, (cli_source)s, cli_entry_of(out, (cli_source)s), name, strlen(name),
                            &flag);
            if (found)
                out->flags[i].source = (cli_source)s;
        }
        if (!found && source >= CLI_CHOICE && (cli_entry_of(out, source) >= 0 || is_optional(p, source)))
            return refuse_flag_of_other(p, source, name);
    }
    return 1;
}

static int asks_for_help(const cli_arguments *arguments)
{
    return cli_is_set(arguments, "help") || cli_is_set(arguments, "version");
}

int cli_arguments_parse(const cli_command *command, int argc, char **argv, cli_arguments *out,
                        cli_text *problem)
{
    parser p = {command, argc, 0, argv, out, problem};
    int flags_ended = 0;

    *out = (cli_arguments){.entries = {-1, -1}};
    while (p.next < argc) {
        const char *argument = argv[p.next++];
        int fine = 1;
        if (flags_ended || argument[0] != '-' || argument[1] == '\0')
            fine = add_operand(&p, argument);
        else if (strcmp(argument, "--") == 0)
            flags_ended = 1;
        else
            fine = argument[1] == '-' ? parse_long(&p, argument) : parse_short(&p, argument);
        if (!fine)
            return 0;
    }
    return asks_for_help(out) || settle_choices(&p);
}

int cli_entry_of(const cli_arguments *arguments, cli_source source)
{
    return source < CLI_CHOICE ? -1 : arguments->entries[source - CLI_CHOICE];
}

void cli_arguments_free(cli_arguments *arguments)
{
    free(arguments->flags);
    free(arguments->operands);
    *arguments = (cli_arguments){.entries = {-1, -1}};
}
