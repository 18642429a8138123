/* SPDX-License-Identifier: Apache-2.0 */
/* The completion scripts for zsh and fish, from the same tables as the help; completion.c has that for bash. */
#include "completion.h"

#include <string.h>

/* Calls `use` for every flag of a command, those of all methods and learners that it can choose among them. */
typedef void (*flag_fn)(FILE *out, const cli_command *command, const cli_flag *flag);

static void each_flag_of(FILE *out, const cli_command *command, cli_source source, int entry, flag_fn use)
{
    cli_flag flag;

    for (int row = 0; cli_flag_at(command, source, entry, row, &flag); row++)
        if (!flag.hidden)
            use(out, command, &flag);
}

static void each_flag(FILE *out, const cli_command *command, flag_fn use)
{
    for (int s = 0; s < CLI_CHOICE; s++)
        each_flag_of(out, command, (cli_source)s, -1, use);
    for (int c = 0; c < CLI_MOST_CHOICES; c++) {
        const cli_family *family = command->choices[c].family;
        for (int e = 0; family && family->entry(e); e++)
            each_flag_of(out, command, (cli_source)(CLI_CHOICE + c), e, use);
    }
}

/* ---- zsh ---- */

static void print_zsh_value(FILE *out, const cli_command *command, const cli_flag *flag)
{
    char name[64];

    if (!flag->info.words)
        return;
    cli_flag_name(flag, name, sizeof name);
    fprintf(out, "        %s:--%s) compadd -- ", command->name, name);
    cli_print_words(out, flag->info.words);
    fputs("; return ;;\n", out);
}

static void print_zsh_flag(FILE *out, const cli_command *command, const cli_flag *flag)
{
    char name[64];

    (void)command;
    cli_flag_name(flag, name, sizeof name);
    fprintf(out, " --%s", name);
    if (flag->letter)
        fprintf(out, " -%c", flag->letter);
}

static void print_zsh_family(FILE *out, const char *pattern, const cli_family *family)
{
    fprintf(out, "        %s) compadd -- ", pattern);
    cli_print_names(out, family);
    fputs("; return ;;\n", out);
}

/* "rbf:*) compadd -S '' -P rbf: -- gamma= ;;": PREFIX is what stands before the cursor. */
static void print_zsh_kernels(FILE *out)
{
    const kfe_entry_info *kernel;

    fputs("        -k | --kernel)\n            case $PREFIX in\n", out);
    for (int i = 0; (kernel = cli_kernels.entry(i)); i++) {
        if (!cli_kernels.param(i, 0))
            continue;
        fprintf(out, "                %s:*) compadd -S '' -P %s: -- ", kernel->name, kernel->name);
        cli_print_kernel_params(out, i, "");
        fputs(" ;;\n", out);
    }
    fputs("                *) compadd -- ", out);
    cli_print_names(out, &cli_kernels);
    fputs(" ;;\n            esac\n            return ;;\n", out);
}

void cli_print_zsh(FILE *out)
{
    const cli_command *command;

    fputs("#compdef kfe\n"
          "# zsh completion for kfe; made by 'kfe help --completion zsh' from the tables of the program.\n"
          "_kfe() {\n"
          "    local command=${words[2]} previous=${words[CURRENT-1]}\n"
          "    if (( CURRENT == 2 )); then\n        compadd -- ",
          out);
    cli_print_command_names(out);
    fputs(" --help --version\n        return\n    fi\n    case $previous in\n", out);
    print_zsh_family(out, "-m | --method", &cli_methods);
    print_zsh_family(out, "--learner", &cli_learners);
    print_zsh_kernels(out);
    fputs("        --metrics) compadd -- ", out);
    cli_print_metrics(out);
    fputs("; return ;;\n    esac\n    case $command:$previous in\n", out);
    for (int i = 0; (command = cli_command_at(i)) != NULL; i++)
        each_flag(out, command, print_zsh_value);
    fputs("    esac\n    if [[ $PREFIX == -* ]]; then\n        case $command in\n", out);
    for (int i = 0; (command = cli_command_at(i)) != NULL; i++) {
        fprintf(out, "            %s) compadd --", command->name);
        each_flag(out, command, print_zsh_flag);
        fputs(" ;;\n", out);
    }
    fputs("        esac\n        return\n    fi\n    case $command:$CURRENT in\n", out);
    print_zsh_family(out, "generate:3", &cli_generators);
    print_zsh_family(out, "methods:3", &cli_methods);
    print_zsh_family(out, "learners:3", &cli_learners);
    print_zsh_family(out, "steps:3", &cli_steps);
    print_zsh_family(out, "kernels:3", &cli_kernels);
    fputs("    esac\n    _files\n}\n_kfe \"$@\"\n", out);
}

/* ---- fish ---- */

/* A text between single quotes. */
static void print_quoted(FILE *out, const char *text)
{
    fputc('\'', out);
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\')
            fputc('\\', out);
        fputc(*text == '\n' ? ' ' : *text, out);
    }
    fputc('\'', out);
}

static void print_fish_values(FILE *out, const cli_flag *flag, const char *name)
{
    const kfe_entry_info *kernel;

    fputs(" -x -a '", out);
    if (strcmp(name, "metrics") == 0)
        cli_print_metrics(out);
    else if (strcmp(name, "method") == 0)
        cli_print_names(out, &cli_methods);
    else if (strcmp(name, "learner") == 0)
        cli_print_names(out, &cli_learners);
    else if (flag->info.words)
        cli_print_words(out, flag->info.words);
    for (int i = 0; strcmp(name, "kernel") == 0 && (kernel = cli_kernels.entry(i)); i++) {
        char prefix[80];
        snprintf(prefix, sizeof prefix, "%s:", kernel->name);
        fprintf(out, "%s%s ", i ? " " : "", kernel->name);
        cli_print_kernel_params(out, i, prefix);
    }
    fputs("'", out);
}

static int has_values(const cli_flag *flag, const char *name)
{
    return flag->info.words || strcmp(name, "metrics") == 0 || strcmp(name, "method") == 0 ||
           strcmp(name, "learner") == 0 || strcmp(name, "kernel") == 0;
}

static void print_fish_flag(FILE *out, const cli_command *command, const cli_flag *flag)
{
    char name[64];

    cli_flag_name(flag, name, sizeof name);
    fprintf(out, "complete -c kfe -n '__fish_seen_subcommand_from %s' -l %s", command->name, name);
    if (flag->letter)
        fprintf(out, " -s %c", flag->letter);
    if (has_values(flag, name))
        print_fish_values(out, flag, name);
    else if (flag->info.type != KFE_PARAM_FLAG)
        fputs(" -r", out);
    fputs(" -d ", out);
    print_quoted(out, flag->info.help ? flag->info.help : "");
    fputc('\n', out);
}

void cli_print_fish(FILE *out)
{
    const cli_command *command;

    fputs("# fish completion for kfe; made by 'kfe help --completion fish' from the tables of the program.\n",
          out);
    for (int i = 0; (command = cli_command_at(i)) != NULL; i++) {
        fprintf(out, "complete -c kfe -n __fish_use_subcommand -a %s -d ", command->name);
        print_quoted(out, command->summary);
        fputc('\n', out);
    }
    for (int i = 0; (command = cli_command_at(i)) != NULL; i++)
        each_flag(out, command, print_fish_flag);
}
