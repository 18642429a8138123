/* SPDX-License-Identifier: Apache-2.0 */
#include "input.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { CLASS_NAMES_SHOWN = 5, CLASS_NAME_SHOWN = 40 };

typedef struct view_list {
    int count, named;
    const char **paths;
    char **names;
} view_list;

static void free_views(view_list *views)
{
    for (int i = 0; i < views->count; i++)
        free(views->names[i]);
    free(views->names);
    free(views->paths);
}

int cli_count_views(const cli_session *session, int first)
{
    int count = session->arguments.operand_count - first;

    for (int i = 0; cli_value_at(&session->arguments, "view", i); i++)
        count++;
    return count < 0 ? 0 : count;
}

static void add_view(view_list *views, const char *name, size_t name_length, const char *path)
{
    char *copy = cli_resize(NULL, name_length + 1, 1);

    memcpy(copy, name, name_length);
    copy[name_length] = '\0';
    views->names[views->count] = copy;
    views->paths[views->count++] = path;
}

static kfe_status list_views(cli_session *session, int first, view_list *out)
{
    const cli_arguments *arguments = &session->arguments;
    size_t room = (size_t)cli_count_views(session, first);
    const char *value;

    *out = (view_list){.paths = cli_resize(NULL, room, sizeof(char *)),
                       .names = cli_resize(NULL, room, sizeof(char *))};
    for (int i = first; i < arguments->operand_count; i++)
        add_view(out, arguments->operands[i], strlen(arguments->operands[i]), arguments->operands[i]);
    for (int i = 0; (value = cli_value_at(arguments, "view", i)) != NULL; i++) {
        size_t length = strcspn(value, "=");
        if (length == 0 || value[length] != '=' || !value[length + 1])
            return cli_fail(session, "--view takes NAME=FILE, such as --view sound=sound.csv, not '%s'",
                            value);
        add_view(out, value, length, value + length + 1);
        out->named = 1;
    }
    return KFE_OK;
}

kfe_status cli_read_data(cli_session *session, int first, const char *options, kfe_data **out)
{
    view_list views = {0};
    cli_text all_options = {0};
    kfe_status status = list_views(session, first, &views);

    *out = NULL;
    if (status != KFE_OK)
        goto cleanup;
    if (views.count == 0) {
        status = cli_fail(session, "%s needs a data file ('-' is standard input); usage: kfe %s %s",
                          session->command->name, session->command->name, session->command->operands);
        goto cleanup;
    }
    cli_text_add(&all_options, options ? options : "");
    cli_options_of(&session->arguments, CLI_READING, &all_options);
    if (views.count == 1 && !views.named)
        status = kfe_data_read(session->ctx, views.paths[0], cli_text_string(&all_options), out);
    else
        status = kfe_data_read_views(session->ctx, views.count, views.paths, (const char *const *)views.names,
                                     cli_text_string(&all_options), out);
cleanup:
    free(all_options.bytes);
    free_views(&views);
    return status;
}

void cli_add_content(const cli_session *session, cli_text *options)
{
    const char *kernel;
    kfe_entry_info info;

    for (int i = 0; (kernel = cli_value_at(&session->arguments, "kernel", i)) != NULL; i++)
        if (kfe_kernel(cli_family_find(&cli_kernels, kernel), &info) && info.flags & KFE_HAS_STRINGS) {
            cli_text_option(options, "content", "strings");
            return;
        }
}

/* The label is where it was in the training file, unless the user says where it is. The last place is what
 * the reader takes anyway, in files that have one of their own as well. */
static void add_label_place(const cli_session *session, const kfe_model *model, cli_text *options)
{
    int64_t column = kfe_model_label_column(model);
    char number[32];

    if (column < 1 || column > kfe_model_cols(model, 0) ||
        cli_option_given(&session->arguments, CLI_READING, "label") ||
        cli_option_given(&session->arguments, CLI_READING, "label_file"))
        return;
    snprintf(number, sizeof number, "%lld", (long long)column);
    cli_text_option(options, "label", number);
}

void cli_add_model_reading(const cli_session *session, const kfe_model *model, int first, cli_text *options)
{
    char number[32];

    if (kfe_model_takes_strings(model, 0)) {
        cli_text_option(options, "content", "strings");
    } else if (cli_count_views(session, first) == 1 && kfe_model_views(model) == 1) {
        snprintf(number, sizeof number, "%lld", (long long)kfe_model_cols(model, 0));
        cli_text_option(options, "columns", number);
        add_label_place(session, model, options);
    }
}

/* A label may be a whole text, or hold what a terminal would obey. */
static void print_class_name(const char *name)
{
    int i = 0;

    for (; name[i] && i < CLASS_NAME_SHOWN; i++)
        fputc((unsigned char)name[i] < 0x20 || name[i] == 0x7f ? '?' : name[i], stderr);
    while (((unsigned char)name[i] & 0xC0) == 0x80) /* the rest of a character */
        fputc(name[i++], stderr);
    if (name[i])
        fputs("…", stderr);
}

static void print_target(const kfe_data *data)
{
    int64_t classes = kfe_data_class_count(data);

    if (kfe_data_task(data) == KFE_TASK_NONE)
        fputs(", no labels\n", stderr);
    else if (kfe_data_task(data) == KFE_TASK_REAL)
        fputs(", a real target\n", stderr);
    else {
        fprintf(stderr, ", %lld class%s (", (long long)classes, classes == 1 ? "" : "es");
        for (int64_t i = 0; i < classes && i < CLASS_NAMES_SHOWN; i++) {
            fputs(i ? ", " : "", stderr);
            print_class_name(kfe_data_class_name(data, i));
        }
        fputs(classes > CLASS_NAMES_SHOWN ? ", …)\n" : ")\n", stderr);
    }
}

void cli_print_data(const cli_session *session, int first, const kfe_data *data)
{
    const cli_arguments *arguments = &session->arguments;
    int views = kfe_data_views(data);

    fputs(first < arguments->operand_count ? arguments->operands[first] : cli_value(arguments, "view"),
          stderr);
    if (views > 1)
        fprintf(stderr, " and %d more", views - 1);
    fprintf(stderr, ": %lld examples, ", (long long)kfe_data_rows(data));
    for (int i = 0; i < views; i++)
        fprintf(stderr, "%s%lld", i ? " + " : "", (long long)kfe_data_cols(data, i));
    fprintf(stderr, " column%s%s", views == 1 && kfe_data_cols(data, 0) == 1 ? "" : "s",
            kfe_data_is_sparse(data, 0) ? " (sparse)" : "");
    print_target(data);
}

static int same_file(const char *a, const char *b)
{
    struct stat first;
    struct stat second;

    return stat(a, &first) == 0 && stat(b, &second) == 0 && S_ISREG(first.st_mode) &&
           first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

kfe_status cli_check_output(cli_session *session, const char *path)
{
    const cli_arguments *arguments = &session->arguments;
    const char *view;

    for (int i = 0; path && i < arguments->operand_count; i++)
        if (same_file(path, arguments->operands[i]))
            return cli_fail(session, "the output would overwrite the input %s; give another name", path);
    for (int i = 0; path && (view = cli_value_at(arguments, "view", i)) != NULL; i++) {
        const char *equals = strchr(view, '=');
        if (equals && same_file(path, equals + 1))
            return cli_fail(session, "the output would overwrite the input %s; give another name", path);
    }
    return KFE_OK;
}
