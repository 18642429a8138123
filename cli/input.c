/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the data that a command line names, and says what was read; used by every command that takes data. */
#include "input.h"

#include <stdlib.h>
#include <string.h>

#include "spec.h"
#include "system/system.h"

enum { CLASS_NAMES_SHOWN = 5, CLASS_NAME_SHOWN = 40 };

/* The longest name of a view. */
enum { VIEW_NAME_SIZE = 256 };

typedef struct view_file {
    const char *path;
    char name[VIEW_NAME_SIZE]; /* as --view says */
    int named;
} view_file;

typedef struct view_list {
    view_file *items;
    int count, named;
} view_list;

static int count_views(const cli_session *session, int first)
{
    int count = session->arguments.operand_count - first;

    for (int i = 0; cli_value_at(&session->arguments, "view", i); i++)
        count++;
    return count < 0 ? 0 : count;
}

/* Splits NAME=REST: the length of NAME, or 0 if the text has another form. */
static size_t split_named(const char *value, const char **rest)
{
    size_t length = strcspn(value, "=");

    *rest = value + length + 1;
    return value[length] == '=' && value[length + 1] && length < VIEW_NAME_SIZE ? length : 0;
}

/* Whether --view means a file: it exists, or its name looks like one. */
static int names_file(const char *value)
{
    char stem[VIEW_NAME_SIZE];

    kfe_view_name(value, stem, sizeof stem); /* without the extension of a format */
    return strchr(value, '/') || strcmp(stem, value) != 0 || kfe_i_path_look(value, NULL) != KFE_PATH_NOTHING;
}

/* Tells the reader, by an option, which views are columns of the one table: every --view NAME=COLUMNS. Returns how many, or -1
 * after a failure. */
static int add_view_columns(cli_session *session, int first, cli_text *options)
{
    const cli_arguments *arguments = &session->arguments;
    const char *value;
    const char *rest;
    cli_text list = {0};
    int count = 0;
    int files = 0;

    for (int i = 0; (value = cli_value_at(arguments, "view", i)) != NULL; i++) {
        if (split_named(value, &rest) == 0) { /* list_views says what is wrong with it */
            free(list.bytes);
            return 0;
        }
        if (names_file(rest)) {
            files++;
            continue;
        }
        cli_text_printf(&list, "%s%s", count++ ? ";" : "", value);
    }
    if (count > 0 && (files > 0 || arguments->operand_count - first != 1)) {
        cli_fail(session,
                 "--view NAME=COLUMNS divides the columns of one table, but %s; give one table, or --view "
                 "NAME=FILE for each view",
                 files > 0                              ? "another --view names a file"
                 : arguments->operand_count - first > 1 ? "several are given"
                                                        : "none is given");
        count = -1;
    } else if (count > 0) {
        cli_text_option(options, "view_columns", list.bytes);
    }
    free(list.bytes);
    return count;
}

static kfe_status list_views(cli_session *session, int first, int with_files, view_list *out)
{
    const cli_arguments *arguments = &session->arguments;
    const char *value;

    *out = (view_list){.items = cli_resize(NULL, (size_t)count_views(session, first) + 1, sizeof(view_file))};
    for (int i = first; i < arguments->operand_count; i++) {
        view_file *added = &out->items[out->count++];
        *added = (view_file){.path = arguments->operands[i]};
    }
    for (int i = 0; with_files && (value = cli_value_at(arguments, "view", i)) != NULL; i++) {
        view_file *added = &out->items[out->count];
        *added = (view_file){.named = 1};
        size_t length = split_named(value, &added->path);
        if (length == 0)
            return cli_fail(session,
                            "--view takes NAME=FILE, such as --view sound=sound.csv, or columns of one "
                            "table, such as --view sound=3-8, not '%s'",
                            value);
        memcpy(added->name, value, length);
        out->named = 1;
        out->count++;
    }
    return KFE_OK;
}

/* What is read: a whole data set, or a stream. */
typedef struct wanted {
    const kfe_model *model; /* NULL: the data is not for a model */
    kfe_data **data;
    kfe_data_stream **stream; /* NULL: the whole data set is wanted */
} wanted;

static kfe_status read_views(cli_session *session, const view_list *views, const char *options, wanted out)
{
    size_t count = (size_t)views->count;
    const char **paths = cli_resize(NULL, count, sizeof *paths);
    const char **names = cli_resize(NULL, count, sizeof *names);
    kfe_status status;

    for (size_t i = 0; i < count; i++) {
        paths[i] = views->items[i].path;
        names[i] = views->items[i].named ? views->items[i].name : NULL;
    }
    if (out.stream)
        status =
            kfe_data_stream_open(session->ctx, out.model, views->count, paths, names, options, out.stream);
    else if (out.model)
        status =
            kfe_data_read_for_model(session->ctx, out.model, views->count, paths, names, options, out.data);
    else if (count == 1 && !views->named)
        status = kfe_data_read(session->ctx, paths[0], options, out.data);
    else
        status = kfe_data_read_views(session->ctx, views->count, paths, names, options, out.data);
    free(paths);
    free(names);
    return status;
}

/* ---- what kernels tell the reader ---- */

static int is_string_kernel(const char *kernel)
{
    const kfe_entry_info *info = kfe_kernel(cli_family_find(&cli_kernels, kernel));

    return info && info->flags & KFE_HAS_STRINGS;
}

static void add_listed(cli_text *list, const char *name, size_t length)
{
    cli_text_printf(list, "%s%.*s", list->length ? ";" : "", (int)length, name);
}

static void add_string_views(cli_text *options, cli_text *names)
{
    if (names->length)
        cli_text_option(options, "string_views", names->bytes);
    free(names->bytes);
}

void cli_add_content(const cli_session *session, cli_text *options)
{
    const cli_arguments *arguments = &session->arguments;
    const char *value;
    const char *kernel;
    cli_text names = {0};
    int all = 0;

    for (int i = 0; (value = cli_value_at(arguments, "kernel", i)) != NULL; i++)
        all |= is_string_kernel(value);
    if (all)
        cli_text_option(options, "content", "strings");
    for (int i = 0; (value = cli_value_at(arguments, "view-kernel", i)) != NULL; i++) {
        size_t length = split_named(value, &kernel);
        if (length && is_string_kernel(kernel))
            add_listed(&names, value, length);
    }
    add_string_views(options, &names);
}

/* ---- models ---- */

/* All bytes of standard input, for free(). */
static char *read_standard_input(size_t *length)
{
    enum { STEP = 1 << 16 };
    size_t capacity = STEP;
    char *bytes = cli_resize(NULL, capacity, 1);
    size_t got;

    *length = 0;
    while ((got = fread(bytes + *length, 1, capacity - *length, stdin)) > 0) {
        *length += got;
        if (*length == capacity)
            bytes = cli_resize(bytes, capacity *= 2, 1);
    }
    return bytes;
}

kfe_status cli_load_model(cli_session *session, kfe_model **out)
{
    return cli_load_model_at(session, 0, out);
}

kfe_status cli_load_model_at(cli_session *session, int index, kfe_model **out)
{
    const char *path = session->arguments.operands[index];
    char *bytes;
    size_t length = 0;
    kfe_status status;

    if (strcmp(path, "-") != 0)
        return kfe_model_load(session->ctx, path, out);
    for (int i = index + 1; i < session->arguments.operand_count; i++)
        if (strcmp(session->arguments.operands[i], "-") == 0)
            return cli_fail(session, "standard input can be read only once: for the model or for the data");
    bytes = read_standard_input(&length);
    status = length ? kfe_model_load_bytes(session->ctx, bytes, length, out)
                    : cli_fail(session, "standard input: there is no model; 'kfe fit -o -' writes one");
    free(bytes);
    return status;
}

void cli_add_task(const kfe_model *model, cli_text *options)
{
    if (kfe_model_task(model) == KFE_TASK_REAL)
        cli_text_option(options, "task", "regress");
    else if (kfe_model_task(model) == KFE_TASK_CLASSES)
        cli_text_option(options, "task", "classify");
}

/* Divides VIEW=FILE if the model has that view: *path moves to the file, and the name is returned. NULL: just a file. */
static const char *view_of_file(const kfe_model *model, const char **path)
{
    const char *name;

    for (int v = 0; (name = kfe_model_view_name(model, v)); v++) {
        size_t length = strlen(name);
        if (strncmp(*path, name, length) == 0 && (*path)[length] == '=') {
            *path += length + 1;
            return name;
        }
    }
    return NULL;
}

kfe_status cli_read_flag_data(cli_session *session, const char *flag, const kfe_model *model, kfe_data **out)
{
    const cli_arguments *arguments = &session->arguments;
    const char **paths = NULL;
    int count = cli_list_values(arguments, flag, &paths);
    const char **names = cli_resize(NULL, (size_t)count + 1, sizeof *names);
    cli_text options = {0};
    char labels[32];
    kfe_status status = KFE_OK;

    *out = NULL;
    snprintf(labels, sizeof labels, "%s-labels", flag);
    for (int i = 0; i < count; i++)
        names[i] = view_of_file(model, &paths[i]);
    if (count > 0) {
        cli_add_task(model, &options);
        cli_options_of(arguments, CLI_READING, &options);
        if (cli_value(arguments, labels))
            cli_text_option(&options, "label_file", cli_value(arguments, labels));
        status =
            kfe_data_read_for_model(session->ctx, model, count, paths, names, cli_text_string(&options), out);
    }
    free(names);
    free(paths);
    free(options.bytes);
    return status;
}

/* ---- results ---- */

int cli_is_results(const char *path)
{
    FILE *file = kfe_i_fopen(path, "rb");
    int first = ' ';

    if (!file)
        return 0;
    while (first == ' ' || first == '\n' || first == '\r' || first == '\t')
        first = getc(file);
    fclose(file);
    return first == '{';
}

kfe_status cli_read_results(cli_session *session, const char *path, kfe_result **out)
{
    enum { STEP = 1 << 16 };
    char *text;
    FILE *file = kfe_i_fopen(path, "rb");
    size_t capacity = STEP;
    size_t length = 0;
    size_t got;

    if (!file)
        return cli_fail(session, "%s: cannot open", path);
    text = cli_resize(NULL, capacity, 1);
    while ((got = fread(text + length, 1, capacity - length - 1, file)) > 0) {
        length += got;
        if (length == capacity - 1)
            text = cli_resize(text, capacity *= 2, 1);
    }
    text[length] = '\0';
    fclose(file);
    kfe_status status = kfe_result_parse(session->ctx, text, out);
    free(text);
    return status;
}

/* ---- all together ---- */

static kfe_status read_wanted(cli_session *session, int first, const char *options, wanted out)
{
    view_list views = {0};
    cli_text all_options = {0};
    kfe_status status = KFE_OK;
    int column_views = 0;

    cli_text_add(&all_options, options ? options : "");
    column_views = add_view_columns(session, first, &all_options);
    if (column_views < 0) {
        free(all_options.bytes);
        return KFE_EINVAL;
    }
    CLI_TRY(list_views(session, first, column_views == 0, &views));
    if (views.count == 0) {
        status = cli_fail(session, "%s needs a data file ('-' is standard input); usage: kfe %s %s",
                          session->command->name, session->command->name, session->command->operands);
        goto cleanup;
    }
    cli_options_of(&session->arguments, CLI_READING, &all_options);
    CLI_TRY(read_views(session, &views, cli_text_string(&all_options), out));
cleanup:
    free(all_options.bytes);
    free(views.items);
    return status;
}

kfe_status cli_read_data(cli_session *session, int first, const kfe_model *model, const char *options,
                         kfe_data **out)
{
    *out = NULL;
    return read_wanted(session, first, options, (wanted){.model = model, .data = out});
}

kfe_status cli_open_data(cli_session *session, int first, const kfe_model *model, kfe_data_stream **out)
{
    *out = NULL;
    return read_wanted(session, first, NULL, (wanted){.model = model, .stream = out});
}

static kfe_status answer_whole(cli_session *session, const kfe_model *model, kfe_output *output,
                               cli_answer_fn answer)
{
    kfe_data *data = NULL;
    kfe_status status = cli_read_data(session, 1, model, NULL, &data);

    if (status == KFE_OK)
        status = answer(session, model, data, output);
    kfe_data_free(data);
    return status;
}

static kfe_status answer_parts(cli_session *session, const kfe_model *model, kfe_output *output,
                               cli_answer_fn answer)
{
    kfe_data_stream *stream = NULL;
    kfe_data *rows = NULL;
    kfe_status status = KFE_OK;

    CLI_TRY(cli_open_data(session, 1, model, &stream));
    do {
        kfe_data_free(rows);
        CLI_TRY(kfe_data_stream_next(session->ctx, stream, &rows));
        if (rows)
            CLI_TRY(answer(session, model, rows, output));
    } while (rows);
cleanup:
    kfe_data_free(rows);
    kfe_data_stream_close(stream);
    return status;
}

kfe_status cli_answer(cli_session *session, const kfe_model *model, const char *path, cli_answer_fn answer)
{
    kfe_output *output = NULL;
    kfe_status status = KFE_OK;

    CLI_TRY(kfe_output_open(session->ctx, path ? path : "-", &output));
    CLI_TRY(kfe_output_takes_parts(output) ? answer_parts(session, model, output, answer)
                                           : answer_whole(session, model, output, answer));
    CLI_TRY(kfe_output_commit(session->ctx, output));
cleanup:
    kfe_output_free(output);
    return status;
}

/* A label may be a whole text: it is cut, at a whole character. */
static void print_class_name(const char *name)
{
    char cut[CLASS_NAME_SHOWN + 1];
    size_t length = strnlen(name, CLASS_NAME_SHOWN);

    while (length > 0 && ((unsigned char)name[length] & 0xC0) == 0x80)
        length--;
    memcpy(cut, name, length);
    cut[length] = '\0';
    fprintf(stderr, "%s%s", cli_shown(cut), name[length] ? "…" : "");
}

static void print_real_target(const kfe_data *data)
{
    int64_t cols = 0;
    const double *values = kfe_data_targets(data, &cols);
    int64_t count = kfe_data_rows(data) * cols;
    double low = count ? values[0] : 0;
    double high = low;

    for (int64_t i = 1; i < count; i++) {
        low = values[i] < low ? values[i] : low;
        high = values[i] > high ? values[i] : high;
    }
    fprintf(stderr, ", a real target (%g to %g)\n", low, high);
}

static void print_target(const kfe_data *data)
{
    int64_t classes = kfe_data_classes(data);

    if (kfe_data_task(data) == KFE_TASK_NONE)
        fputs(", no labels\n", stderr);
    else if (kfe_data_task(data) == KFE_TASK_REAL)
        print_real_target(data);
    else {
        fprintf(stderr, ", %lld class%s (", (long long)classes, classes == 1 ? "" : "es");
        for (int64_t i = 0; i < classes && i < CLASS_NAMES_SHOWN; i++) {
            fputs(i ? ", " : "", stderr);
            print_class_name(kfe_data_class_name(data, i));
        }
        fputs(classes > CLASS_NAMES_SHOWN ? ", …)\n" : ")\n", stderr);
    }
}

/* Whether several views can only be columns of the one file that is named. */
static int columns_of_one_table(const cli_arguments *arguments, int first)
{
    const char *value = cli_value_at(arguments, "view", 0);
    const char *rest;

    return arguments->operand_count - first == 1 &&
           (!value || (split_named(value, &rest) && !names_file(rest)));
}

void cli_print_data(const cli_session *session, int first, const kfe_data *data)
{
    const cli_arguments *arguments = &session->arguments;
    int views = kfe_data_views(data);

    fputs(cli_shown(first < arguments->operand_count ? arguments->operands[first]
                                                     : kfe_data_view_name(data, 0)),
          stderr);
    if (views > 1 && columns_of_one_table(arguments, first))
        fprintf(stderr, " in %d views", views);
    else if (views > 1)
        fprintf(stderr, " and %d more", views - 1);
    fprintf(stderr, ": %lld example%s, ", (long long)kfe_data_rows(data),
            kfe_data_rows(data) == 1 ? "" : "s");
    for (int i = 0; i < views; i++)
        fprintf(stderr, "%s%lld%s", i ? " + " : "", (long long)kfe_data_cols(data, i),
                views > 1 && kfe_data_is_sparse(data, i) ? " (sparse)" : "");
    fprintf(stderr, " column%s%s", views == 1 && kfe_data_cols(data, 0) == 1 ? "" : "s",
            views == 1 && kfe_data_is_sparse(data, 0) ? " (sparse)" : "");
    print_target(data);
}

/* Fails if the folder of `path` does not exist: better before a long fit than after it. */
static kfe_status check_folder(cli_session *session, const char *path)
{
    const char *slash = strrchr(path, '/');
    cli_text name = {0};
    kfe_status status = KFE_OK;

    if (!slash || slash == path)
        return KFE_OK;
    cli_text_printf(&name, "%.*s", (int)(slash - path), path);
    if (kfe_i_path_look(name.bytes, NULL) != KFE_PATH_FOLDER)
        status =
            cli_fail(session, "%s: cannot create: there is no directory %s; make it first", path, name.bytes);
    free(name.bytes);
    return status;
}

/* Files that flags name. */
static kfe_status check_named_inputs(cli_session *session, const char *path)
{
    static const char *const flags[] = {"train", "test", "master", "slave"};
    const char *input;

    for (size_t f = 0; f < sizeof flags / sizeof *flags; f++)
        for (int i = 0; (input = cli_value_at(&session->arguments, flags[f], i)) != NULL; i++)
            if (kfe_i_is_same_file(path, input))
                return cli_fail(session, "the output would overwrite the input %s; give another name", path);
    return kfe_output_check(session->ctx, path);
}

kfe_status cli_check_output(cli_session *session, const char *path)
{
    const cli_arguments *arguments = &session->arguments;
    const char *view;

    if (path && check_folder(session, path) != KFE_OK)
        return KFE_EINVAL;
    for (int i = 0; path && i < arguments->operand_count; i++)
        if (kfe_i_is_same_file(path, arguments->operands[i]))
            return cli_fail(session, "the output would overwrite the input %s; give another name", path);
    for (int i = 0; path && (view = cli_value_at(arguments, "view", i)) != NULL; i++) {
        const char *equals = strchr(view, '=');
        if (equals && kfe_i_is_same_file(path, equals + 1))
            return cli_fail(session, "the output would overwrite the input %s; give another name", path);
    }
    return path ? check_named_inputs(session, path) : KFE_OK;
}
