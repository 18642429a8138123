/* SPDX-License-Identifier: Apache-2.0 */
/* The specifications of reproduce/specs, which the build turns into a C file (reproduce/embed.cmake). */
#ifndef REP_EMBEDDED_H
#define REP_EMBEDDED_H

typedef struct rep_embedded {
    const char *name, *title, *paper;
    const unsigned char *text; /* JSON, zero-terminated */
} rep_embedded;

/* Ends with a row of NULLs. */
extern const rep_embedded rep_embedded_specs[];

#endif
