/* SPDX-License-Identifier: Apache-2.0 */
/* The specifications of reproduce/, which the build puts into the library (cmake/embed.cmake). */
#ifndef KFE_API_EMBEDDED_H
#define KFE_API_EMBEDDED_H

typedef struct kfe_i_embedded {
    const char *name, *title, *paper;
    const unsigned char *text; /* JSON, ended by a zero */
} kfe_i_embedded;

/* Ends with a row of NULLs. */
extern const kfe_i_embedded kfe_i_embedded_plans[];

#endif
