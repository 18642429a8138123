/* SPDX-License-Identifier: Apache-2.0 */
/* Turns SVG into PNG with librsvg's program; used by `kfe plot --format png`. */
#include "png.h"

#include <stdlib.h>
#include <string.h>

#include "system/system.h"

static kfe_status write_result(cli_session *session, FILE *picture, const char *path)
{
    long size = fseek(picture, 0, SEEK_END) == 0 ? ftell(picture) : -1;
    kfe_status status;

    if (size <= 0)
        return cli_fail(session, "rsvg-convert wrote no picture");
    char *bytes = cli_resize(NULL, (size_t)size, 1);
    rewind(picture);
    status = fread(bytes, 1, (size_t)size, picture) == (size_t)size
                 ? kfe_output_write(session->ctx, path, bytes, (size_t)size)
                 : cli_fail(session, "the picture of rsvg-convert could not be read");
    free(bytes);
    return status;
}

kfe_status cli_write_png(cli_session *session, const char *svg, const char *path)
{
    char *const words[] = {"rsvg-convert", "--format=png", "--zoom=2", NULL};
    FILE *from = tmpfile();
    FILE *to = tmpfile();
    kfe_status status;
    int result = 127;

    if (!from || !to || fputs(svg, from) == EOF || fflush(from) != 0) {
        status = cli_fail(session, "a temporary file could not be written");
    } else {
        rewind(from);
        result = kfe_i_run_filter(words, from, to);
        if (result == 127)
            status =
                cli_fail(session, "PNG needs the program rsvg-convert (Debian: librsvg2-bin), which is not "
                                  "installed; --format svg needs nothing");
        else
            status = result == 0 ? write_result(session, to, path)
                                 : cli_fail(session, "rsvg-convert failed with exit status %d", result);
    }
    if (from)
        fclose(from);
    if (to)
        fclose(to);
    return status;
}
