/* SPDX-License-Identifier: Apache-2.0 */
/* The table of formats, for read/ and write/. */
#include "data/format/format.h"

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

static const kfe_i_format *recognised(const char *head, int64_t length, int has_magic)
{
    const kfe_i_format *format;

    for (int k = 0; (format = kfe_i_format_at(k)) != NULL; k++)
        if (format->recognise && format->has_magic == has_magic && format->recognise(head, length))
            return format;
    return NULL;
}

const kfe_i_format *kfe_i_format_by_magic(const char *head, int64_t length)
{
    return recognised(head, length, 1);
}

const kfe_i_format *kfe_i_format_guess(const char *path, const char *head, int64_t length)
{
    char extension[16];

    kfe_i_path_extension(path, extension, sizeof extension);
    const kfe_i_format *found = kfe_i_format_of_extension(extension);
    found = found ? found : recognised(head, length, 0);
    return found ? found : &kfe_i_format_csv;
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
