/* SPDX-License-Identifier: Apache-2.0 */
/* Find the file of a plug-in, libkfe_NAME.so, which the library opens at run time. */
#ifndef KFE_CORE_PLUGIN_H
#define KFE_CORE_PLUGIN_H

enum { KFE_PLUGIN_PATH = 4096 };

/* The path of `file` in `out` (KFE_PLUGIN_PATH bytes), or its bare name, for the system's loader. It is looked for in the folders of
 * KFE_DEVICE_PATH (separated by ':'), then in the folder of the library (or of the program that contains it) and its neighbours. */
void kfe_i_plugin_find(const char *file, char *out);

#endif
