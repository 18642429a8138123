/* SPDX-License-Identifier: Apache-2.0 */
/* Prints help texts from the tables of commands and flags. */
#include "help.h"

#include <stdlib.h>
#include <string.h>

#include "external.h"

enum { TEXT_COLUMN = 28 };

void cli_help_overview(FILE *out)
{
    const cli_command *command;
    const char *name;
    const char *summary;

    fputs("kfe learns a few nonlinear features from data and applies them to new data.\n\n"
          "Usage: kfe COMMAND [FLAGS] [FILES]\n\nCommands:\n",
          out);
    for (int i = 0; (command = cli_command_at(i)) != NULL; i++)
        fprintf(out, "  %-12s%s\n", command->name, command->summary);
    for (int i = 0; cli_external_at(i, &name, &summary); i++)
        fprintf(out, "  %-12s%s (the program kfe-%s)\n", name, summary, name);
    fputs("\n'kfe help COMMAND' or 'kfe COMMAND --help' shows the flags of a command, 'kfe methods --guide'\n"
          "which method to use. A first try:\n\n"
          "  kfe generate iris -o iris.csv\n"
          "  kfe fit -m koc -k rbf:gamma=1 iris.csv -o iris.kfe\n"
          "  kfe transform iris.kfe iris.csv -o features.csv\n",
          out);
}

const char *cli_group_title(const cli_command *command, cli_source source)
{
    static const char *const titles[CLI_SOURCE_COUNT] = {
        [CLI_OWN] = "Flags",
        [CLI_COMMON] = "Common flags",
        [CLI_READING] = "Flags of reading data",
        [CLI_FITTING] = "Flags of fitting",
    };
    if (source == CLI_OPTIONS && command->option_title)
        return command->option_title;
    return titles[source] ? titles[source] : "Flags";
}

static void print_row(FILE *out, const char *label, const char *text)
{
    int width = (int)strlen(label);

    fputs(label, out);
    if (width + 2 > TEXT_COLUMN) {
        fputc('\n', out);
        width = 0;
    }
    fprintf(out, "%*s", TEXT_COLUMN - width, "");
    cli_print_wrapped(out, text, TEXT_COLUMN, TEXT_COLUMN);
}

static void print_flag(FILE *out, const cli_flag *flag)
{
    char name[64];
    cli_text label = {0};
    cli_text text = {0};
    const char *metavar = cli_flag_metavar(flag);

    cli_flag_name(flag, name, sizeof name);
    if (flag->letter)
        cli_text_printf(&label, "  -%c, --%s", flag->letter, name);
    else
        cli_text_printf(&label, "      --%s", name);
    if (metavar)
        cli_text_printf(&label, " %s", metavar);
    cli_flag_text(flag, &text);
    print_row(out, label.bytes, cli_text_string(&text));
    free(label.bytes);
    free(text.bytes);
}

static void print_group(FILE *out, const cli_command *command, cli_source source, int entry)
{
    cli_flag flag;
    const kfe_entry_info *info;

    if (!cli_flag_at(command, source, entry, 0, &flag))
        return;
    fprintf(out, "\n%s", cli_group_title(command, source));
    if (source >= CLI_CHOICE) {
        const cli_family *family = command->choices[source - CLI_CHOICE].family;
        info = family->entry(entry);
        fprintf(out, " of %s %s", family->noun, info->name);
    }
    fputs(":\n", out);
    for (int row = 0; cli_flag_at(command, source, entry, row, &flag); row++)
        if (!flag.hidden)
            print_flag(out, &flag);
}

/* Prints the flag that chooses a member, "-m " or "--learner "; nothing where an operand chooses it. */
static void print_chooser(FILE *out, const cli_command *command, const char *name)
{
    cli_flag flag;

    for (int row = 0; name && cli_flag_at(command, CLI_OWN, -1, row, &flag); row++)
        if (strcmp(flag.info.name, name) == 0 && flag.letter)
            fprintf(out, "-%c ", flag.letter);
        else if (strcmp(flag.info.name, name) == 0)
            fprintf(out, "--%s ", name);
}

static void print_members(FILE *out, const cli_command *command, const cli_choice *choice)
{
    const kfe_entry_info *info;

    fprintf(out, "\nEach %s has flags of its own; 'kfe %s ", choice->family->noun, command->name);
    print_chooser(out, command, choice->flag);
    fputs("NAME --help' shows them:\n", out);
    for (int i = 0; (info = choice->family->entry(i)); i++) {
        cli_text label = {0};
        cli_text_printf(&label, "  %s", info->name);
        print_row(out, label.bytes, info->summary);
        free(label.bytes);
    }
}

void cli_help_command(FILE *out, const cli_command *command, const cli_arguments *arguments)
{
    static const cli_source order[] = {CLI_OWN,     CLI_OPTIONS, CLI_CHOICE, CLI_LAST_CHOICE,
                                       CLI_FITTING, CLI_READING, CLI_COMMON};

    fprintf(out, "Usage: kfe %s %s\n\n", command->name, command->operands);
    cli_print_wrapped(out, command->description, 0, 0);
    for (int c = 0; c < CLI_MOST_CHOICES; c++)
        if (command->choices[c].family && !(arguments && arguments->entries[c] >= 0))
            print_members(out, command, &command->choices[c]);
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        print_group(out, command, order[i], arguments ? cli_entry_of(arguments, order[i]) : -1);
    if (command->examples)
        fprintf(out, "\nExamples:\n%s", command->examples);
}

void cli_help_params(FILE *out, const cli_family *family, int entry)
{
    const kfe_param_info *info;

    for (int row = 0; (info = family->param(entry, row)) != NULL; row++) {
        cli_flag flag = {.info = *info};
        cli_text label = {0};
        cli_text text = {0};
        cli_text_printf(&label, "  %s", info->name);
        cli_flag_text(&flag, &text);
        print_row(out, label.bytes, cli_text_string(&text));
        free(label.bytes);
        free(text.bytes);
    }
}
