/* SPDX-License-Identifier: Apache-2.0 */
/* Man pages in roff, from the same tables as the help. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "external.h"
#include "help.h"

/* Prints text with everything escaped that roff would take for a request. */
static void print_escaped(FILE *out, const char *text)
{
    int at_start = 1;

    for (const char *c = text; *c; c++) {
        if (at_start && *c == ' ')
            continue;
        if (at_start && (*c == '.' || *c == '\''))
            fputs("\\&", out);
        if (*c == '\\')
            fputs("\\e", out);
        else if (*c == '-')
            fputs("\\-", out);
        else
            fputc(*c, out);
        at_start = *c == '\n';
    }
}

static void print_line(FILE *out, const char *request, const char *text)
{
    fputs(request, out);
    print_escaped(out, text);
    fputc('\n', out);
}

static void print_heading(FILE *out, const char *title)
{
    fputs(".SH \"", out);
    for (const char *c = title; *c; c++)
        fputc(toupper((unsigned char)*c), out);
    fputs("\"\n", out);
}

static void print_flag(FILE *out, const cli_flag *flag)
{
    char name[64];
    cli_text text = {0};
    const char *metavar = cli_flag_metavar(flag);

    cli_flag_name(flag, name, sizeof name);
    fputs(".TP\n", out);
    if (flag->letter)
        fprintf(out, "\\fB\\-%c\\fR, ", flag->letter);
    fputs("\\fB\\-\\-", out);
    print_escaped(out, name);
    fputs("\\fR", out);
    if (metavar)
        fprintf(out, " \\fI%s\\fR", metavar);
    fputc('\n', out);
    cli_flag_text(flag, &text);
    print_line(out, "", cli_text_string(&text));
    free(text.bytes);
}

static void print_group(FILE *out, const cli_command *command, cli_source source, int entry)
{
    cli_flag flag;

    for (int row = 0; cli_flag_at(command, source, entry, row, &flag); row++)
        if (!flag.hidden)
            print_flag(out, &flag);
}

static void print_titled_group(FILE *out, const cli_command *command, cli_source source)
{
    cli_flag flag;

    if (!cli_flag_at(command, source, -1, 0, &flag) || flag.hidden)
        return;
    print_heading(out, cli_group_title(command, source));
    print_group(out, command, source, -1);
}

static void print_members(FILE *out, const cli_command *command, cli_source source)
{
    const cli_family *family = command->choices[source - CLI_CHOICE].family;
    cli_text title = {0};
    const kfe_entry_info *entry;

    if (!family)
        return;
    cli_text_printf(&title, "%ss", family->noun);
    print_heading(out, title.bytes);
    free(title.bytes);
    for (int i = 0; (entry = family->entry(i)); i++) {
        print_line(out, ".SS ", entry->name);
        print_line(out, "", entry->summary);
        if (entry->formula) {
            fputs(".PP\n", out);
            print_line(out, "", entry->formula);
        }
        print_group(out, command, source, i);
    }
}

static void print_kernels(FILE *out)
{
    const kfe_param_info *info;
    const kfe_entry_info *entry;

    print_heading(out, "kernels");
    print_line(out, "", "A kernel is written NAME or NAME:KEY=VALUE,KEY=VALUE.");
    for (int i = 0; (entry = kfe_kernel(i)); i++) {
        print_line(out, ".SS ", entry->name);
        print_line(out, "", entry->summary);
        if (entry->formula) {
            fputs(".PP\n", out);
            print_line(out, "", entry->formula);
        }
        for (int row = 0; (info = kfe_kernel_param(i, row)) != NULL; row++) {
            cli_flag flag = {.info = *info};
            cli_text text = {0};
            cli_flag_text(&flag, &text);
            print_line(out, ".TP\n.B ", info->name);
            print_line(out, "", cli_text_string(&text));
            free(text.bytes);
        }
    }
}

static void print_title(FILE *out, const char *page, const char *summary)
{
    fprintf(out, ".\\\" Made by 'kfe help --man' from the tables of the program.\n.TH \"");
    for (const char *c = page; *c; c++)
        fputc(toupper((unsigned char)*c), out);
    fprintf(out, "\" 1 \"\" \"kfe %s\" \"User Commands\"\n.nh\n.SH NAME\n", kfe_version());
    print_escaped(out, page);
    fputs(" \\- ", out);
    print_line(out, "", summary);
}

static void print_see_also(FILE *out, const cli_command *self)
{
    const cli_command *command;
    const char *separator = "";

    print_heading(out, "see also");
    if (self) {
        fputs(".BR kfe (1)", out);
        separator = ",\n";
    }
    for (int i = 0; (command = cli_command_at(i)) != NULL; i++)
        if (command != self) {
            fprintf(out, "%s.BR kfe\\-%s (1)", separator[0] ? " ,\n" : "", command->name);
            separator = ",\n";
        }
    fputc('\n', out);
}

static void print_exit_status(FILE *out)
{
    print_heading(out, "exit status");
    fputs("0 on success; 2 for a mistake that you can correct (usage, input, an unwritable output, a memory "
          "limit);\n"
          "1 for a failure that you cannot (out of memory, no convergence).\n",
          out);
}

static void print_overview(FILE *out)
{
    const cli_command *command;
    const char *name;
    const char *summary;

    print_title(out, "kfe", "kernel feature extraction");
    fputs(".SH SYNOPSIS\n.B kfe\n.I COMMAND\n[\\fIFLAGS\\fR] [\\fIFILES\\fR]\n.SH DESCRIPTION\n"
          "kfe learns a few nonlinear, label\\-aware features from data and applies them to new data.\n"
          "Data is CSV, TSV, ARFF, LIBSVM, MatrixMarket, FASTA, npy or npz, any of them also compressed with "
          "gzip, xz or "
          "Zstandard.\n.SH COMMANDS\n",
          out);
    for (int i = 0; (command = cli_command_at(i)) != NULL; i++) {
        print_line(out, ".TP\n.B ", command->name);
        print_line(out, "", command->summary);
    }
    for (int i = 0; cli_external_at(i, &name, &summary); i++) {
        print_line(out, ".TP\n.B ", name);
        print_line(out, "", summary);
    }
    print_titled_group(out, cli_command_at(0), CLI_COMMON);
    print_kernels(out);
    print_exit_status(out);
    print_see_also(out, NULL);
}

void cli_manual(FILE *out, const cli_command *command)
{
    static const cli_source order[] = {CLI_OWN, CLI_OPTIONS, CLI_FITTING, CLI_READING, CLI_COMMON};
    cli_text page = {0};

    if (!command) {
        print_overview(out);
        return;
    }
    cli_text_printf(&page, "kfe-%s", command->name);
    print_title(out, page.bytes, command->summary);
    free(page.bytes);
    fprintf(out, ".SH SYNOPSIS\n.B kfe %s\n", command->name);
    print_line(out, "", command->operands);
    fputs(".SH DESCRIPTION\n", out);
    print_line(out, "", command->description);
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        print_titled_group(out, command, order[i]);
    print_members(out, command, CLI_CHOICE);
    print_members(out, command, CLI_LAST_CHOICE);
    if (command->examples) {
        fputs(".SH EXAMPLES\n.nf\n", out);
        print_escaped(out, command->examples);
        fputs(".fi\n", out);
    }
    print_exit_status(out);
    print_see_also(out, command);
}
