/* SPDX-License-Identifier: Apache-2.0 */
/* The table of formats, for read/ and write/, and what the name of a file says. */
#include "data/format/format.h"

#include <stdio.h>
#include <string.h>

#include "core/text.h"

#define KFE_FORMAT(identifier) extern const kfe_i_format kfe_i_format_##identifier;
#include "data/format/formats.def"
#undef KFE_FORMAT

const char kfe_i_format_words[] = "auto"
#define KFE_FORMAT(identifier) "|" #identifier
#include "data/format/formats.def"
#undef KFE_FORMAT
    ;

const kfe_i_format *kfe_i_format_at(int index)
{
#define KFE_FORMAT(identifier) &kfe_i_format_##identifier,
    static const kfe_i_format *const formats[] = {
#include "data/format/formats.def"
    };
#undef KFE_FORMAT
    return index >= 0 && index < (int)(sizeof formats / sizeof *formats) ? formats[index] : NULL;
}

const kfe_i_format *kfe_i_format_of_extension(const char *extension)
{
    const kfe_i_format *format;

    for (int k = 0; extension[0] && (format = kfe_i_format_at(k)) != NULL; k++)
        if (kfe_i_word_index(format->extensions, extension) >= 0)
            return format;
    return NULL;
}

static int has_magic(const kfe_i_format *format, const char *head, int64_t length)
{
    size_t size = format->magic ? strlen(format->magic) : SIZE_MAX;

    return (size_t)length >= size && memcmp(head, format->magic, size) == 0 &&
           (!format->recognise || format->recognise(head, length));
}

const kfe_i_format *kfe_i_format_by_magic(const char *head, int64_t length)
{
    const kfe_i_format *format;

    for (int k = 0; (format = kfe_i_format_at(k)) != NULL; k++)
        if (has_magic(format, head, length))
            return format;
    return NULL;
}

static const kfe_i_format *by_text(const char *head, int64_t length)
{
    const kfe_i_format *format;

    for (int k = 0; (format = kfe_i_format_at(k)) != NULL; k++)
        if (!format->magic && format->recognise && format->recognise(head, length))
            return format;
    return NULL;
}

const kfe_i_format *kfe_i_format_guess(const char *path, const char *head, int64_t length)
{
    char extension[16];

    kfe_i_path_extension(path, extension, sizeof extension);
    const kfe_i_format *found = kfe_i_format_of_extension(extension);
    found = found ? found : by_text(head, length);
    return found ? found : &kfe_i_format_csv;
}

/* The length of a file name without the extensions of a compression and of a format; a leading dot starts no extension. */
static size_t stem_length(const char *name)
{
    char extension[16];
    size_t length = strlen(name);
    size_t cut = 0;

    kfe_i_path_extension(name, extension, sizeof extension);
    kfe_i_packing_of_path(name, &cut);
    cut += kfe_i_format_of_extension(extension) ? strlen(extension) + 1 : 0;
    return cut < length ? length - cut : length;
}

void kfe_view_name(const char *path, char *out, size_t size)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;

    if (strcmp(path, "-") == 0)
        snprintf(out, size, "stdin");
    else
        snprintf(out, size, "%.*s", (int)stem_length(name), name);
}

kfe_status kfe_i_format_read(const kfe_i_format *format, kfe_i_source *source,
                             const kfe_i_read_settings *settings, kfe_i_raw_table *out)
{
    kfe_status status = KFE_OK;
    void *state = NULL;

    if (format->read)
        return format->read(source, settings, out);
    KFE_TRY(format->open(source, settings, 0, &state));
    KFE_TRY(format->next(state, out));
cleanup:
    if (state)
        format->close(source->ctx, state);
    return status;
}
