/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Use the device that a context asked for: open it at the first need, call its table (plugin/device.h), and turn its status into one
 * of the library. Files of this folder call it, and learners that learn on a device; methods do not see it.
 */
#ifndef KFE_GRAM_DEVICE_SESSION_H
#define KFE_GRAM_DEVICE_SESSION_H

#include "core/context.h"
#include "plugin/device.h"

typedef struct kfe_i_device {
    kfe_context *ctx;
    const kfe_device_table *table;
    kfe_device *handle;
    kfe_device_info info; /* when it was opened */
    char name[32];        /* that users type */
    const char *stage;    /* for progress while a call runs */
} kfe_i_device;

/* Opens libkfe_NAME.so and its device; a name may end in ":1". Without a number, processes of a cluster on one machine take its devices
 * in turn. On failure the message says what is missing. */
kfe_status kfe_i_device_open(kfe_context *ctx, const char *name, kfe_i_device **out);
void kfe_i_device_close(kfe_i_device *device);

/* The device of a context that wants one, opened if need be; *out NULL: there is none. Fails if a device was asked for by name and cannot be
 * opened. Call kfe_i_choose_device (gram/place.h), which asks whether the work is worth it. */
kfe_status kfe_i_device_get(kfe_context *ctx, kfe_i_device **out);

/* Whether the caller should go on without the device: its memory is used up, or it cannot do this. Logs that `what` runs on the
 * CPU instead. */
int kfe_i_device_gives_up(const kfe_i_device *device, kfe_device_status status, const char *what);
/* The same; otherwise *status is the library's. */
int kfe_i_device_leaves_to_cpu(const kfe_i_device *device, kfe_device_status result, const char *what,
                               kfe_status *status);
/* The library's status for one of the device, with the device's own text. */
kfe_status kfe_i_device_status(const kfe_i_device *device, kfe_device_status status);
/* Bytes that may still be allocated on it; a tenth is left for the workspaces of its libraries. */
double kfe_i_device_room(const kfe_i_device *device);

/* In functions with `kfe_device_status status` and a `cleanup:` label. */
#define KFE_DEVICE_TRY(call)                                                                                 \
    do {                                                                                                     \
        status = (call);                                                                                     \
        if (status != KFE_DEVICE_OK)                                                                         \
            goto cleanup;                                                                                    \
    } while (0)

/* A packed matrix in memory of its own; address 0 after a failure. */
kfe_device_status kfe_i_device_matrix_new(const kfe_i_device *device, int64_t rows, int64_t cols,
                                          kfe_device_type type, kfe_device_matrix *out);
void kfe_i_device_matrix_free(const kfe_i_device *device, kfe_device_matrix *matrix);

#endif
