/* SPDX-License-Identifier: Apache-2.0 */
/* Write an SVG figure as a PNG picture. */
#ifndef KFE_CLI_PNG_H
#define KFE_CLI_PNG_H

#include "command.h"

/* Runs rsvg-convert, which must be installed; the message says how to get it. `path` "-" is standard output. */
kfe_status cli_write_png(cli_session *session, const char *svg, const char *path);

#endif
