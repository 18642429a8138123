/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the tables of methods, kernels, learners and generators, as text or JSON. */
#include "list.h"

#include <stdlib.h>
#include <string.h>

#include "help.h"

enum { NAME_WIDTH = 14 };

static const struct {
    unsigned flag;
    const char *text;
} traits[] = {
    {KFE_HAS_SUPERVISION, "needs labels"},
    {KFE_HAS_REGRESSION, "takes real targets"},
    {KFE_HAS_KERNELS, "works with every kernel"},
    {KFE_HAS_MULTIVIEW, "takes several views or kernels"},
    {KFE_HAS_SPARSE, "keeps sparse data sparse"},
    {KFE_HAS_SYNTHETIC, "needs the columns of the data: no precomputed kernels, no strings"},
    {KFE_HAS_INDEFINITE, "not positive definite for all parameters"},
    {KFE_HAS_NONNEGATIVE, "only for data without negative values"},
    {KFE_HAS_STRINGS, "works on strings"},
    {KFE_HAS_TWO_CLASSES, "only for two classes"},
    {KFE_HAS_WEIGHTS, "learns the weights of the kernels"},
    {KFE_HAS_PREDICTOR, "predicts without a learner"},
    {KFE_HAS_PROBABILITIES, "gives probabilities of classes by default (calibration)"},
    {KFE_HAS_SAMPLE_WEIGHTS, "takes weights of examples (weight)"},
    {KFE_HAS_DERIVATIVE, "for methods that learn a distance: linear, poly, rbf, exp, matern"},
};
enum { TRAIT_COUNT = sizeof traits / sizeof *traits };

/* The default kernel of a method that takes one, for the trait that says so; NULL: nothing to say. */
static const char *default_kernel(const cli_family *family, int index, int trait)
{
    return family == &cli_methods && traits[trait].flag == KFE_HAS_KERNELS ? kfe_method_kernel(index) : NULL;
}

/* The length of an initial sequence that is printed as it is (the end of a line, or bold on and off); 0: none. */
static size_t plain_length(const char *text)
{
    if (*text == '\n')
        return 1;
    return strncmp(text, "\033[1m", 4) == 0 || strncmp(text, "\033[0m", 4) == 0 ? 4 : 0;
}

/* Names in a result come from files, and a pipe may end on a terminal. */
static void print_escaped(const char *text)
{
    while (*text) {
        size_t length = 0;
        size_t plain;
        while (text[length] && plain_length(text + length) == 0)
            length++;
        char *line = cli_resize(NULL, length + 1, 1);
        memcpy(line, text, length);
        line[length] = '\0';
        fputs(cli_shown(line), stdout);
        free(line);
        text += length;
        plain = plain_length(text);
        fwrite(text, 1, plain, stdout);
        text += plain;
    }
}

void cli_print_text(const char *text)
{
    size_t length = strlen(text);

    print_escaped(text);
    if (length == 0 || text[length - 1] != '\n')
        putchar('\n');
}

kfe_status cli_print_result(cli_session *session, const kfe_result *result)
{
    char *text = NULL;
    kfe_status status =
        kfe_result_describe(session->ctx, result, session->json ? KFE_STYLE_JSON : KFE_STYLE_TEXT, &text);

    if (status == KFE_OK)
        cli_print_text(text);
    kfe_string_free(session->ctx, text);
    return status;
}

static void print_in_full(const cli_family *family, int index, const kfe_entry_info *entry)
{
    cli_text title = {0};

    cli_text_printf(&title, "%s: %s", entry->name, entry->summary);
    cli_print_wrapped(stdout, title.bytes, 2, 0);
    free(title.bytes);
    printf("  %s\n", entry->formula);
    for (int i = 0; i < TRAIT_COUNT; i++) {
        const char *kernel = default_kernel(family, index, i);
        if (entry->flags & traits[i].flag)
            printf("  - %s%s%s\n", traits[i].text, kernel ? ", by default " : "", kernel ? kernel : "");
    }
    if (family->param(index, 0))
        printf("\nParameters:\n");
    cli_help_params(stdout, family, index);
}

static void print_briefly(const cli_family *family, int index, const kfe_entry_info *entry)
{
    const kfe_param_info *info;
    cli_text params = {0};

    printf("%s%-*s", index ? "\n" : "", NAME_WIDTH, entry->name);
    cli_print_wrapped(stdout, entry->summary, NAME_WIDTH, NAME_WIDTH);
    printf("%*s", NAME_WIDTH, "");
    cli_print_wrapped(stdout, entry->formula, NAME_WIDTH, NAME_WIDTH);
    for (int row = 0; (info = family->param(index, row)) != NULL; row++)
        cli_text_printf(&params, "%s%s=%s", row ? ", " : "", info->name, info->initial);
    if (params.length) {
        printf("%*s", NAME_WIDTH, "");
        cli_print_wrapped(stdout, params.bytes, NAME_WIDTH, NAME_WIDTH);
    }
    free(params.bytes);
}

static void print_entries(const cli_family *family)
{
    const kfe_entry_info *entry;

    for (int i = 0; (entry = family->entry(i)); i++)
        print_briefly(family, i, entry);
}

static kfe_status print_json(cli_session *session, const cli_family *family, const char *name)
{
    char *text = NULL;
    kfe_status status = family->as_json(session->ctx, name, &text);

    if (status == KFE_OK)
        cli_print_text(text);
    kfe_string_free(session->ctx, text);
    return status;
}

kfe_status cli_print_list(cli_session *session, const cli_family *family, const char *name)
{
    int index = name ? cli_family_find(family, name) : -1;
    char suggestion[96];
    const kfe_entry_info *entry;

    if (name && (index < 0 || !(entry = family->entry(index))))
        return cli_fail(session, "there is no %s '%s'%s; 'kfe %s' lists them", family->noun, name,
                        cli_family_suggest(family, name, suggestion, sizeof suggestion), family->listing);
    if (session->json)
        return print_json(session, family, name ? entry->name : NULL);
    if (name)
        print_in_full(family, index, entry);
    else
        print_entries(family);
    return KFE_OK;
}

kfe_status cli_run_list(cli_session *session, const cli_family *family)
{
    const cli_arguments *arguments = &session->arguments;
    kfe_status status = cli_check_operands(session, 0, 1, "at most one name");

    if (status != KFE_OK)
        return status;
    return cli_print_list(session, family, arguments->operand_count == 1 ? arguments->operands[0] : NULL);
}
