/* SPDX-License-Identifier: Apache-2.0 */
/* The completion script for bash, from the same tables as the help; completion_zsh_fish.c has those for zsh and fish. */
#include "completion.h"

#include <string.h>

#include "help.h"

void cli_print_names(FILE *out, const cli_family *family)
{
    const kfe_entry_info *entry;

    for (int i = 0; (entry = family->entry(i)); i++)
        fprintf(out, "%s%s", i ? " " : "", entry->name);
}

void cli_print_command_names(FILE *out)
{
    const cli_command *command;

    for (int i = 0; (command = cli_command_at(i)) != NULL; i++)
        fprintf(out, "%s%s", i ? " " : "", command->name);
}

void cli_print_metrics(FILE *out)
{
    const kfe_entry_info *metric;

    for (int i = 0; (metric = kfe_metric(i)); i++)
        fprintf(out, "%s%s", i ? " " : "", metric->name);
}

void cli_print_kernel_params(FILE *out, int kernel, const char *prefix)
{
    const kfe_param_info *param;

    for (int row = 0; (param = cli_kernels.param(kernel, row)) != NULL; row++)
        fprintf(out, "%s%s%s=", row ? " " : "", prefix, param->name);
}

void cli_print_words(FILE *out, const char *words)
{
    for (const char *c = words; *c; c++)
        fputc(*c == '|' ? ' ' : *c, out);
}

void cli_print_flag_names(FILE *out, const cli_command *command, cli_source source, int entry)
{
    cli_flag flag;
    char name[64];

    for (int row = 0; cli_flag_at(command, source, entry, row, &flag); row++) {
        if (flag.hidden)
            continue;
        cli_flag_name(&flag, name, sizeof name);
        fprintf(out, " --%s", name);
        if (flag.letter)
            fprintf(out, " -%c", flag.letter);
    }
}

/* "--scale) words='none standard …' ;;" for each flag of a group whose values are words. */
static void print_bash_values(FILE *out, const cli_command *command, cli_source source, int entry)
{
    cli_flag flag;
    char name[64];

    for (int row = 0; cli_flag_at(command, source, entry, row, &flag); row++) {
        if (!flag.info.words)
            continue;
        cli_flag_name(&flag, name, sizeof name);
        fprintf(out, "            %s:--%s) words='", command->name, name);
        cli_print_words(out, flag.info.words);
        fputs("' ;;\n", out);
    }
}

static void print_bash_choice(FILE *out, const cli_command *command, cli_source source)
{
    const cli_family *family = command->choices[source - CLI_CHOICE].family;
    const kfe_entry_info *entry;

    if (!family)
        return;
    fprintf(out, "            case $%s in\n", family->noun);
    for (int i = 0; (entry = family->entry(i)); i++) {
        fprintf(out, "                %s) flags+='", entry->name);
        cli_print_flag_names(out, command, source, i);
        fputs("' ;;\n", out);
    }
    fputs("            esac\n", out);
}

static void print_bash_command(FILE *out, const cli_command *command)
{
    fprintf(out, "        %s)\n            flags='", command->name);
    for (int s = 0; s < CLI_CHOICE; s++)
        cli_print_flag_names(out, command, (cli_source)s, -1);
    fputs("'\n", out);
    for (int s = CLI_CHOICE; s < CLI_SOURCE_COUNT; s++)
        print_bash_choice(out, command, (cli_source)s);
    fputs("            ;;\n", out);
}

static void print_bash_values_of(FILE *out, const cli_command *command)
{
    for (int s = 0; s < CLI_CHOICE; s++)
        print_bash_values(out, command, (cli_source)s, -1);
    for (int c = 0; c < CLI_MOST_CHOICES; c++) {
        const cli_family *family = command->choices[c].family;
        for (int e = 0; family && family->entry(e); e++)
            print_bash_values(out, command, (cli_source)(CLI_CHOICE + c), e);
    }
}

static void print_bash_all_values(FILE *out)
{
    const cli_command *command;

    for (int i = 0; (command = cli_command_at(i)) != NULL; i++)
        print_bash_values_of(out, command);
}

/* Completes names that a flag chooses, or that stand alone after the command that lists them. */
static void print_bash_words(FILE *out, const char *pattern, const cli_family *family)
{
    fprintf(out, "            %s) words='", pattern);
    cli_print_names(out, family);
    fputs("' ;;\n", out);
}

/* "rbf) words='gamma=' ;;" for each kernel with parameters. */
static void print_bash_kernels(FILE *out)
{
    const kfe_entry_info *kernel;

    for (int i = 0; (kernel = cli_kernels.entry(i)); i++) {
        if (!cli_kernels.param(i, 0))
            continue;
        fprintf(out, "            %s) words='", kernel->name);
        cli_print_kernel_params(out, i, "");
        fputs("' ;;\n", out);
    }
}

static void print_bash(FILE *out)
{
    const cli_command *command;

    fputs(
        "# bash completion for kfe; made by 'kfe help --completion bash' from the tables of the program.\n"
        "_kfe()\n{\n"
        "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
        "    local command=${COMP_WORDS[1]} method='' learner='' generator='' kernel='' flags='' words='' i\n"
        "    COMPREPLY=()\n"
        "    if ((COMP_CWORD == 1)); then\n        COMPREPLY=($(compgen -W '",
        out);
    cli_print_command_names(out);
    fputs(" --help --version' -- \"$current\"))\n        return\n    fi\n"
          "    for ((i = 2; i < COMP_CWORD; i++)); do\n"
          "        case ${COMP_WORDS[i]} in\n"
          "            -m | --method) method=${COMP_WORDS[i+1]} ;;\n"
          "            --learner) learner=${COMP_WORDS[i+1]} ;;\n"
          "        esac\n"
          "    done\n"
          "    [[ $command == generate ]] && generator=${COMP_WORDS[2]}\n"
          "    if [[ $current == : ]]; then kernel=$previous current=''\n"
          "    elif [[ $previous == : ]]; then kernel=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
          "    case $kernel in\n",
          out);
    print_bash_kernels(out);
    fputs("    esac\n"
          "    [[ -n $words ]] && compopt -o nospace\n"
          "    case $previous in\n",
          out);
    fputs("            --metrics) words='", out);
    cli_print_metrics(out);
    fputs("' ;;\n", out);
    print_bash_words(out, "-m | --method", &cli_methods);
    print_bash_words(out, "--learner", &cli_learners);
    print_bash_words(out, "-k | --kernel", &cli_kernels);
    fputs("    esac\n    if [[ -z $words ]]; then\n        case $command:$previous in\n", out);
    print_bash_all_values(out);
    fputs("        esac\n    fi\n    case $command in\n", out);
    for (int i = 0; (command = cli_command_at(i)) != NULL; i++)
        print_bash_command(out, command);
    fputs("    esac\n    if [[ -z $words ]] && ((COMP_CWORD == 2)); then\n        case $command in\n", out);
    print_bash_words(out, "generate", &cli_generators);
    print_bash_words(out, "methods", &cli_methods);
    print_bash_words(out, "learners", &cli_learners);
    print_bash_words(out, "steps", &cli_steps);
    print_bash_words(out, "kernels", &cli_kernels);
    fputs("            help) words='", out);
    cli_print_command_names(out);
    fputs("' ;;\n        esac\n    fi\n"
          "    if [[ $current == -* ]]; then\n"
          "        COMPREPLY=($(compgen -W \"$flags\" -- \"$current\"))\n"
          "    elif [[ -n $words ]]; then\n"
          "        COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
          "    fi\n}\n"
          "complete -o default -F _kfe kfe\n",
          out);
}

int cli_completion(FILE *out, const char *shell)
{
    static const struct {
        const char *shell;
        void (*print)(FILE *out);
    } scripts[] = {{"bash", print_bash}, {"zsh", cli_print_zsh}, {"fish", cli_print_fish}};

    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
        if (strcmp(shell, scripts[i].shell) == 0) {
            scripts[i].print(out);
            return 1;
        }
    return 0;
}
