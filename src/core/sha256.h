/* SPDX-License-Identifier: Apache-2.0 */
/* Compute SHA-256 checksums (FIPS 180-4), by which damaged model files are noticed. */
#ifndef KFE_CORE_SHA256_H
#define KFE_CORE_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { KFE_SHA256_HEX_SIZE = 65 };

typedef struct kfe_i_sha256 {
    uint32_t state[8];
    uint64_t length;
    unsigned char block[64];
} kfe_i_sha256;

void kfe_i_sha256_init(kfe_i_sha256 *hash);
void kfe_i_sha256_add(kfe_i_sha256 *hash, const void *bytes, size_t size);
void kfe_i_sha256_hex(kfe_i_sha256 *hash, char out[KFE_SHA256_HEX_SIZE]);

#endif
