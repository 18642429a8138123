/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SHA-256 as FIPS 180-4 writes it, with its names: message schedule W (6.2.2, step 1), working variables
 * a … h (step 2), functions Ch, Maj, Σ and σ (4.1.2). 64 bytes a round of 64 steps.
 */
#include "core/sha256.h"

#include <string.h>

enum { BLOCK_SIZE = 64, LENGTH_OFFSET = 56 };

/* Fractional parts of the cube roots of the first 64 primes (4.2.2). */
static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate_right(uint32_t x, unsigned n)
{
    return (x >> n) | (x << (32 - n));
}

static uint32_t big_endian(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static void expand_schedule(const unsigned char *block, uint32_t w[64])
{
    for (int t = 0; t < 16; t++)
        w[t] = big_endian(block + 4 * t);
    for (int t = 16; t < 64; t++) {
        uint32_t sigma0 = rotate_right(w[t - 15], 7) ^ rotate_right(w[t - 15], 18) ^ (w[t - 15] >> 3);
        uint32_t sigma1 = rotate_right(w[t - 2], 17) ^ rotate_right(w[t - 2], 19) ^ (w[t - 2] >> 10);
        w[t] = sigma1 + w[t - 7] + sigma0 + w[t - 16];
    }
}

static void digest_block(uint32_t state[8], const unsigned char *block)
{
    uint32_t w[64];
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];

    expand_schedule(block, w);
    for (int t = 0; t < 64; t++) {
        uint32_t sum1 = rotate_right(e, 6) ^ rotate_right(e, 11) ^ rotate_right(e, 25);
        uint32_t choice = (e & f) ^ (~e & g);
        uint32_t t1 = h + sum1 + choice + round_constants[t] + w[t];
        uint32_t sum0 = rotate_right(a, 2) ^ rotate_right(a, 13) ^ rotate_right(a, 22);
        uint32_t majority = (a & b) ^ (a & c) ^ (b & c);
        h = g, g = f, f = e;
        e = d + t1;
        d = c, c = b, b = a;
        a = t1 + sum0 + majority;
    }
    state[0] += a, state[1] += b, state[2] += c, state[3] += d;
    state[4] += e, state[5] += f, state[6] += g, state[7] += h;
}

void kfe_i_sha256_init(kfe_i_sha256 *hash)
{
    static const uint32_t initial[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memset(hash, 0, sizeof *hash);
    memcpy(hash->state, initial, sizeof initial);
}

void kfe_i_sha256_add(kfe_i_sha256 *hash, const void *bytes, size_t size)
{
    const unsigned char *next = bytes;
    size_t used = (size_t)(hash->length % BLOCK_SIZE);

    if (size == 0)
        return;
    hash->length += size;
    if (used > 0) {
        size_t taken = size < BLOCK_SIZE - used ? size : BLOCK_SIZE - used;
        memcpy(hash->block + used, next, taken);
        next += taken;
        size -= taken;
        if (used + taken < BLOCK_SIZE)
            return;
        digest_block(hash->state, hash->block);
    }
    for (; size >= BLOCK_SIZE; size -= BLOCK_SIZE, next += BLOCK_SIZE)
        digest_block(hash->state, next);
    memcpy(hash->block, next, size);
}

/* A one bit, zeros, and the length in bits, up to a whole block (5.1.1). */
static void add_padding(kfe_i_sha256 *hash)
{
    static const unsigned char padding[BLOCK_SIZE] = {0x80};
    unsigned char length[8];
    uint64_t bits = hash->length * 8;
    size_t used = (size_t)(hash->length % BLOCK_SIZE);

    for (int i = 0; i < 8; i++)
        length[i] = (unsigned char)(bits >> (56 - 8 * i));
    size_t target = used < LENGTH_OFFSET ? LENGTH_OFFSET : BLOCK_SIZE + LENGTH_OFFSET;
    kfe_i_sha256_add(hash, padding, target - used);
    kfe_i_sha256_add(hash, length, sizeof length);
}

void kfe_i_sha256_hex(kfe_i_sha256 *hash, char out[KFE_SHA256_HEX_SIZE])
{
    static const char digits[] = "0123456789abcdef";

    add_padding(hash);
    for (int i = 0; i < 64; i++)
        out[i] = digits[hash->state[i / 8] >> (28 - 4 * (i % 8)) & 15];
    out[64] = '\0';
}
