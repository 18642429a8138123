/* SPDX-License-Identifier: Apache-2.0 */
/* Read zip archives in memory, as NumPy writes them: stored or deflated entries, zip64 where needed. */
#ifndef KFE_DATA_FORMAT_ZIP_H
#define KFE_DATA_FORMAT_ZIP_H

#include "data/read/source.h"

typedef struct kfe_i_zip {
    kfe_context *ctx;
    const char *name; /* of the file, for messages */
    const unsigned char *bytes;
    int64_t size;
    int64_t directory, entry_count;
} kfe_i_zip;

typedef struct kfe_i_zip_entry {
    const char *name; /* not NUL-terminated */
    int64_t name_length;
    int flags, method;
    uint32_t crc;
    int64_t packed, unpacked; /* sizes */
    int64_t header;           /* offset of the local header */
    int64_t next;             /* offset of the next entry of the directory */
} kfe_i_zip_entry;

int kfe_i_zip_recognise(const char *head, int64_t length);
kfe_status kfe_i_zip_open(kfe_context *ctx, const char *name, const void *bytes, int64_t size,
                          kfe_i_zip *out);
/* The entry at an offset of the directory (at first zip->directory). */
kfe_status kfe_i_zip_entry_at(const kfe_i_zip *zip, int64_t offset, kfe_i_zip_entry *out);
/* Opens an entry for reading, after it has been checked against its size and its CRC. A compressed entry is unpacked while
 * it is read. Close the source, also after a failure. */
kfe_status kfe_i_zip_open_entry(const kfe_i_zip *zip, const kfe_i_zip_entry *entry, kfe_i_source *out);

#endif
