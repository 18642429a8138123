/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 against the examples of FIPS 180-4 and of NIST's validation suite (SHA256ShortMsg). */
#include "support/support.h"

#include "core/sha256.h"

static void check(const void *message, size_t size, const char *expected)
{
    kfe_i_sha256 hash;
    char hex[KFE_SHA256_HEX_SIZE];

    kfe_i_sha256_init(&hash);
    kfe_i_sha256_add(&hash, message, size);
    kfe_i_sha256_hex(&hash, hex);
    assert_string_equal(hex, expected);
}

static void test_published_vectors(void **state)
{
    static const char two_blocks[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    static const char four_blocks[] = "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
                                      "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu";
    (void)state;
    check("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    check("abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    check(two_blocks, 56, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    check(four_blocks, 112, "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
    check("\xd3", 1, "28969cdfa74a12c82f3bad960b0b000aca2ac329deea5c2328ebc6f2ba9802c1");
}

static void test_million_letters_in_uneven_pieces(void **state)
{
    kfe_i_sha256 hash;
    char hex[KFE_SHA256_HEX_SIZE];
    char letters[257];
    size_t left = 1000000;

    (void)state;
    memset(letters, 'a', sizeof letters);
    kfe_i_sha256_init(&hash);
    for (size_t piece = 0; left > 0; piece++) {
        size_t size = piece % sizeof letters < left ? piece % sizeof letters : left;
        kfe_i_sha256_add(&hash, letters, size);
        left -= size;
    }
    kfe_i_sha256_hex(&hash, hex);
    assert_string_equal(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/* Lengths around the limits of the padding; the expected values come from Python's hashlib. */
static void test_padding_edges(void **state)
{
    unsigned char zeros[128] = {0};

    (void)state;
    check(zeros, 55, "02779466cdec163811d078815c633f21901413081449002f24aa3e80f0b88ef7");
    check(zeros, 56, "d4817aa5497628e7c77e6b606107042bbba3130888c5f47a375e6179be789fbb");
    check(zeros, 63, "c7723fa1e0127975e49e62e753db53924c1bd84b8ac1ac08df78d09270f3d971");
    check(zeros, 64, "f5a5fd42d16a20302798ef6ed309979b43003d2320d9f0e8ea9831a92759fb4b");
    check(zeros, 119, "f616b0d54e78571a9611f343c9f8e022e859e920381ab0e4d3da01e193a7bd7e");
    check(zeros, 120, "6edd9f6f9cc92cded36e6c4a580933f9c9f1b90562b46903b806f21902a1a54f");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published_vectors),
        cmocka_unit_test(test_million_letters_in_uneven_pieces),
        cmocka_unit_test(test_padding_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
