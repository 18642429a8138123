/* SPDX-License-Identifier: Apache-2.0 */
#include "help.h"

#include <stdlib.h>
#include <string.h>

enum { TEXT_COLUMN = 28 };

void cli_help_overview(FILE *out)
{
    const cli_command *command;

    fputs("kfe learns a few nonlinear features from data and applies them to new data.\n\n"
          "Usage: kfe COMMAND [FLAGS] [FILES]\n\nCommands:\n",
          out);
    for (int i = 0; (command = cli_command_at(i)) != NULL; i++)
        fprintf(out, "  %-12s%s\n", command->name, command->summary);
    fputs("\n'kfe help COMMAND' or 'kfe COMMAND --help' tells more. A first try:\n\n"
          "  kfe generate iris -o iris.csv\n"
          "  kfe fit -m koc -k rbf:gamma=1 iris.csv -o iris.kfe\n"
          "  kfe transform iris.kfe iris.csv -o features.csv\n",
          out);
}

const char *cli_group_title(cli_source source)
{
    static const char *const titles[CLI_SOURCE_COUNT] = {"Flags", "Common flags", "Flags of reading data",
                                                         "Flags of fitting", "Flags"};
    return titles[source];
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
    kfe_entry_info info;

    if (!cli_flag_at(command, source, entry, 0, &flag))
        return;
    fprintf(out, "\n%s", cli_group_title(source));
    if (source == CLI_FAMILY && command->family->entry(entry, &info))
        fprintf(out, " of %s %s", command->family->noun, info.name);
    fputs(":\n", out);
    for (int row = 0; cli_flag_at(command, source, entry, row, &flag); row++)
        if (!flag.hidden)
            print_flag(out, &flag);
}

static void print_family(FILE *out, const cli_command *command)
{
    const cli_family *family = command->family;
    kfe_entry_info info;

    fprintf(out, "\nEach %s has flags of its own; 'kfe %s %sNAME --help' shows them:\n", family->noun,
            command->name, command->family_flag ? "-m " : "");
    for (int i = 0; family->entry(i, &info); i++) {
        cli_text label = {0};
        cli_text_printf(&label, "  %s", info.name);
        print_row(out, label.bytes, info.summary);
        free(label.bytes);
    }
}

void cli_help_command(FILE *out, const cli_command *command, int entry)
{
    static const cli_source order[] = {CLI_OWN, CLI_FAMILY, CLI_FITTING, CLI_READING, CLI_COMMON};

    fprintf(out, "Usage: kfe %s %s\n\n", command->name, command->operands);
    cli_print_wrapped(out, command->description, 0, 0);
    if (command->family && entry < 0)
        print_family(out, command);
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        print_group(out, command, order[i], entry);
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
