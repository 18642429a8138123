/* SPDX-License-Identifier: Apache-2.0 */
#include "list.h"

#include <string.h>

#include "help.h"

typedef struct flag_word {
    unsigned flag;
    const char *key, *text;
} flag_word;

static const flag_word flag_words[] = {
    {KFE_HAS_SUPERVISION, "supervised", "needs labels"},
    {KFE_HAS_REGRESSION, "regression", "takes real targets"},
    {KFE_HAS_KERNELS, "kernels", "works with every kernel"},
    {KFE_HAS_MULTIVIEW, "multi-view", "takes several views or kernels"},
    {KFE_HAS_SPARSE, "sparse", "keeps sparse data sparse"},
    {KFE_HAS_SYNTHETIC, "needs points", "needs the points themselves: no precomputed kernels, no strings"},
    {KFE_HAS_INDEFINITE, "indefinite", "not positive definite for all parameters"},
    {KFE_HAS_NONNEGATIVE, "data >= 0", "for data without negative values"},
    {KFE_HAS_STRINGS, "strings", "works on strings"},
};
enum { FLAG_WORD_COUNT = sizeof flag_words / sizeof *flag_words };

void cli_print_text(const char *text)
{
    size_t length = strlen(text);

    fputs(text, stdout);
    if (length == 0 || text[length - 1] != '\n')
        putchar('\n');
}

static const char *type_name(kfe_param_type type)
{
    static const char *const names[] = {"integer", "real", "choice", "flag", "text"};
    return names[type];
}

static void print_json_field(const char *key, const char *value)
{
    printf(", \"%s\": ", key);
    cli_print_json_string(stdout, value);
}

static void print_param_json(const kfe_param_info *info)
{
    printf("{\"name\": ");
    cli_print_json_string(stdout, info->name);
    print_json_field("type", type_name(info->type));
    print_json_field("default", info->initial);
    if (info->type == KFE_PARAM_INT || info->type == KFE_PARAM_REAL)
        printf(", \"min\": %.17g, \"max\": %.17g", info->min, info->max);
    if (info->words)
        print_json_field("words", info->words);
    print_json_field("help", info->help);
    putchar('}');
}

static void print_entry_json(const cli_family *family, int index, const kfe_entry_info *entry)
{
    const kfe_param_info *info;
    int first = 1;

    printf("{\"name\": ");
    cli_print_json_string(stdout, entry->name);
    print_json_field("summary", entry->summary);
    print_json_field(family->formula_title, entry->formula);
    printf(", \"flags\": [");
    for (int i = 0; i < FLAG_WORD_COUNT; i++)
        if (entry->flags & flag_words[i].flag) {
            printf("%s\"%s\"", first ? "" : ", ", flag_words[i].key);
            first = 0;
        }
    printf("], \"parameters\": [");
    for (int row = 0; (info = family->param(index, row)) != NULL; row++) {
        printf("%s", row ? ", " : "");
        print_param_json(info);
    }
    printf("]}");
}

static void print_entry_text(const cli_family *family, int index, const kfe_entry_info *entry)
{
    printf("%s: %s\n", entry->name, entry->summary);
    if (entry->formula)
        printf("  %s\n", entry->formula);
    for (int i = 0; i < FLAG_WORD_COUNT; i++)
        if (entry->flags & flag_words[i].flag)
            printf("  - %s\n", flag_words[i].text);
    if (family->param(index, 0))
        printf("\nParameters:\n");
    cli_help_params(stdout, family, index);
}

kfe_status cli_print_entry(cli_session *session, const cli_family *family, const char *name)
{
    int index = cli_family_find(family, name);
    char suggestion[96];
    kfe_entry_info entry;

    if (index < 0 || !family->entry(index, &entry))
        return cli_fail(session, "there is no %s '%s'%s", family->noun, name,
                        cli_family_suggest(family, name, suggestion, sizeof suggestion));
    if (session->json) {
        print_entry_json(family, index, &entry);
        putchar('\n');
    } else {
        print_entry_text(family, index, &entry);
    }
    return KFE_OK;
}

void cli_print_entries(const cli_session *session, const cli_family *family)
{
    kfe_entry_info entry;

    for (int i = 0; family->entry(i, &entry); i++)
        if (session->json) {
            printf(i ? ",\n " : "[");
            print_entry_json(family, i, &entry);
        } else {
            printf("%-16s%s\n", entry.name, entry.summary);
        }
    if (session->json)
        puts("]");
}

kfe_status cli_run_list(cli_session *session, const cli_family *family, cli_list_fn list)
{
    char *text = NULL;
    kfe_status status = cli_check_operands(session, 0, 1, "at most one name");

    if (status != KFE_OK)
        return status;
    if (session->arguments.operand_count == 1)
        return cli_print_entry(session, family, session->arguments.operands[0]);
    status = list(session->ctx, session->json ? KFE_STYLE_JSON : KFE_STYLE_TEXT, &text);
    if (status == KFE_OK)
        cli_print_text(text);
    kfe_string_free(session->ctx, text);
    return status;
}
