/* SPDX-License-Identifier: Apache-2.0 */
/* Open a plug-in, libkfe_NAME.so, at run time, and get its table of functions. */
#ifndef KFE_CORE_PLUGIN_H
#define KFE_CORE_PLUGIN_H

#include "core/context.h"

/* What a plug-in must have. */
typedef struct kfe_i_plugin {
    const char *file;      /* "libkfe_mpi.so" */
    const char *owner;     /* what it is for, in messages: "the device 'cuda'" */
    const char *interface; /* "device interface" */
    const char *advice;    /* what to do if it is missing: "install it" */
    const char *symbol;    /* of the function that returns the table */
    uint32_t abi, size;    /* every table begins with these two numbers */
} kfe_i_plugin;

/* Opens the plug-in, which stays loaded to the end of the process since drivers and MPI start once, and checks its table. The file is
 * looked for in the folders of KFE_DEVICE_PATH (absolute, separated by ':'), in the folder of the library (or of the program that contains
 * it) and its neighbours, then by the system's loader. KFE_EUNSUPPORTED if the plug-in is missing or comes from another release;
 * KFE_EINVAL if KFE_DEVICE_PATH has a relative path. */
kfe_status kfe_i_plugin_open(kfe_context *ctx, const kfe_i_plugin *plugin, const void **table);

#endif
