/* SPDX-License-Identifier: Apache-2.0 */
/* The container of model files: saving and loading, a reader in another language, and hostile files. */
#include "support/support.h"
#include "support/sweep.h"

#include <stdio.h>
#include <sys/stat.h>

#include "core/sha256.h"
#include "model/file/safetensors.h"

/* ---- files made by hand ---- */

static unsigned char made[8192];

/* Concatenates length, header and payload in `made`. */
static size_t assemble(const char *header, size_t header_size, const void *payload, size_t size)
{
    assert_true(8 + header_size + size <= sizeof made);
    for (int i = 0; i < 8; i++)
        made[i] = (unsigned char)((uint64_t)header_size >> (8 * i));
    memcpy(made + 8, header, header_size);
    memcpy(made + 8 + header_size, payload, size);
    return 8 + header_size + size;
}

/* A container whose metadata has the right hash, followed by these entries. `described` is the text that the
 * header's hash covers, with '|' for the terminators: "name|type|extent|extent|". */
static size_t assemble_described(const char *entries, const char *described, const void *payload, size_t size)
{
    char header_hex[KFE_SHA256_HEX_SIZE];
    kfe_i_sha256 hash;
    char hex[KFE_SHA256_HEX_SIZE];
    char header[4096];

    kfe_i_sha256_init(&hash);
    kfe_i_sha256_add(&hash, payload, size);
    kfe_i_sha256_hex(&hash, hex);
    kfe_i_sha256_init(&hash);
    for (; *described; described++)
        kfe_i_sha256_add(&hash, *described == '|' ? "" : described, 1);
    kfe_i_sha256_hex(&hash, header_hex);
    snprintf(header, sizeof header, "{\"__metadata__\":{\"sha256\":\"%s\",\"header_sha256\":\"%s\"}%s%s}",
             hex, header_hex, *entries ? "," : "", entries);
    return assemble(header, strlen(header), payload, size);
}

static size_t assemble_entries(const char *entries, const void *payload, size_t size)
{
    return assemble_described(entries, "", payload, size);
}

static void assert_refused(kfe_context *ctx, size_t size, const char *reason)
{
    kfe_i_safetensors file;

    assert_fails(ctx, KFE_EMODEL, reason, kfe_i_safetensors_parse(ctx, "m.kfe", made, size, &file));
    assert_int_equal(strncmp(kfe_error_message(ctx), "m.kfe: ", 7), 0);
    assert_null(file.ctx);
}

static void assert_entries_refused(kfe_context *ctx, const char *entries, const char *reason)
{
    static const unsigned char payload[16] = {1, 2, 3};
    assert_refused(ctx, assemble_entries(entries, payload, sizeof payload), reason);
}

/* ---- saving and loading ---- */

static const double reals[6] = {1, -0.0, 1e-310, 1.0 / 3, -1e308, 6};
static const int64_t wide[2] = {INT64_MIN, INT64_MAX};
static const int32_t narrow[3] = {-7, 0, INT32_MAX};
static const unsigned char bytes[5] = {0, 255, 1, 2, 3};

static void fill(kfe_context *ctx, kfe_i_safetensors *file)
{
    kfe_i_safetensors_init(ctx, file);
    assert_ok(ctx, kfe_i_safetensors_add(file, "bytes", KFE_DTYPE_U8, 5, -1, bytes));
    assert_ok(ctx, kfe_i_safetensors_add(file, "narrow", KFE_DTYPE_I32, 3, -1, narrow));
    assert_ok(ctx, kfe_i_safetensors_add(file, "reals", KFE_DTYPE_F64, 2, 3, reals));
    assert_ok(ctx, kfe_i_safetensors_add(file, "none", KFE_DTYPE_F64, 0, 4, NULL));
    assert_ok(ctx, kfe_i_safetensors_add(file, "wide", KFE_DTYPE_I64, 2, -1, wide));
    assert_ok(ctx, kfe_i_safetensors_set(file, "format", "7"));
    assert_ok(ctx, kfe_i_safetensors_set(file, "labels", "grün \"quoted\"\n\\"));
    assert_ok(ctx, kfe_i_safetensors_set(file, "format", "1"));
}

static const char *write_example(kfe_context *ctx, const char *name)
{
    const char *path = support_path(name);
    kfe_i_safetensors file;

    fill(ctx, &file);
    assert_ok(ctx, kfe_i_safetensors_write(&file, path));
    kfe_i_safetensors_free(&file);
    return path;
}

static size_t read_back(const char *path)
{
    FILE *stream = fopen(path, "rb");
    size_t size;

    assert_non_null(stream);
    size = fread(made, 1, sizeof made, stream);
    fclose(stream);
    return size;
}

static void assert_tensor(const kfe_i_safetensors *file, const char *name, kfe_i_dtype dtype, int axes,
                          int64_t count, const void *data, size_t size)
{
    const kfe_i_tensor *tensor = kfe_i_safetensors_find(file, name);

    assert_non_null(tensor);
    assert_int_equal(tensor->dtype, dtype);
    assert_int_equal(tensor->axes, axes);
    assert_int_equal(tensor->count, count);
    assert_memory_equal(tensor->data, data, size);
    if (count > 0)
        assert_int_equal((uintptr_t)tensor->data % (size / (size_t)count), 0);
}

static void assert_example(const kfe_i_safetensors *file)
{
    assert_int_equal(file->tensor_count, 5);
    assert_tensor(file, "reals", KFE_DTYPE_F64, 2, 6, reals, sizeof reals);
    assert_tensor(file, "wide", KFE_DTYPE_I64, 1, 2, wide, sizeof wide);
    assert_tensor(file, "narrow", KFE_DTYPE_I32, 1, 3, narrow, sizeof narrow);
    assert_tensor(file, "bytes", KFE_DTYPE_U8, 1, 5, bytes, sizeof bytes);
    assert_tensor(file, "none", KFE_DTYPE_F64, 2, 0, "", 0);
    assert_int_equal(kfe_i_safetensors_find(file, "reals")->shape[1], 3);
    assert_int_equal(kfe_i_safetensors_find(file, "none")->shape[1], 4);
    assert_string_equal(kfe_i_safetensors_get(file, "format"), "1");
    assert_string_equal(kfe_i_safetensors_get(file, "labels"), "grün \"quoted\"\n\\");
    assert_null(kfe_i_safetensors_get(file, "nothing"));
    assert_null(kfe_i_safetensors_find(file, "nothing"));
}

static void test_round_trip(void **state)
{
    kfe_context *ctx = *state;
    const char *path = write_example(ctx, "round.kfe");
    kfe_i_safetensors file;
    size_t size;

    assert_ok(ctx, kfe_i_safetensors_read(ctx, path, &file));
    assert_example(&file);
    kfe_i_safetensors_free(&file);
    size = read_back(path);
    assert_int_equal(made[0] % 8, 0);
    assert_ok(ctx, kfe_i_safetensors_parse(ctx, "memory", made, size, &file));
    assert_example(&file);
    kfe_i_safetensors_free(&file);
}

static void test_same_content_gives_same_bytes(void **state)
{
    kfe_context *ctx = *state;
    static unsigned char first[sizeof made];
    size_t size = read_back(write_example(ctx, "first.kfe"));

    memcpy(first, made, size);
    assert_int_equal(read_back(write_example(ctx, "second.kfe")), size);
    assert_memory_equal(first, made, size);
}

static void test_empty_container(void **state)
{
    kfe_context *ctx = *state;
    const char *path = support_path("empty.kfe");
    kfe_i_safetensors file;

    kfe_i_safetensors_init(ctx, &file);
    assert_ok(ctx, kfe_i_safetensors_write(&file, path));
    kfe_i_safetensors_free(&file);
    assert_ok(ctx, kfe_i_safetensors_read(ctx, path, &file));
    assert_int_equal(file.tensor_count, 0);
    assert_string_equal(kfe_i_safetensors_get(&file, "sha256"),
                        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    kfe_i_safetensors_free(&file);
}

/* The format by its inventors' description, without any package. */
static const char python_reader[] =
    "import hashlib, json, struct, sys\n"
    "raw = open(sys.argv[1], 'rb').read()\n"
    "n = struct.unpack('<Q', raw[:8])[0]\n"
    "header, payload = json.loads(raw[8:8 + n].decode('utf-8')), raw[8 + n:]\n"
    "meta = header.pop('__metadata__')\n"
    "codes = {'F64': 'd', 'I64': 'q', 'I32': 'i', 'U8': 'B'}\n"
    "def values(t):\n"
    "    begin, end = t['data_offsets']\n"
    "    count = 1\n"
    "    for extent in t['shape']: count *= extent\n"
    "    return struct.unpack('<%d%s' % (count, codes[t['dtype']]), payload[begin:end])\n"
    "assert values(header['reals']) == (1, -0.0, 1e-310, 1 / 3, -1e308, 6)\n"
    "assert header['reals']['shape'] == [2, 3] and header['none']['shape'] == [0, 4]\n"
    "assert values(header['wide']) == (-2**63, 2**63 - 1)\n"
    "assert values(header['narrow']) == (-7, 0, 2**31 - 1)\n"
    "assert values(header['bytes']) == (0, 255, 1, 2, 3)\n"
    "assert max(t['data_offsets'][1] for t in header.values()) == len(payload)\n"
    "assert meta['sha256'] == hashlib.sha256(payload).hexdigest()\n"
    "assert meta['labels'] == 'gr\\u00fcn \"quoted\"\\n\\\\'\n";

static void test_python_reads_it(void **state)
{
    kfe_context *ctx = *state;
    char command[1200];
    const char *path = write_example(ctx, "python.kfe");

    if (system("python3 -c '' 2>/dev/null") != 0) {
        print_message("there is no python3 to read the file with\n");
        skip();
    }
    snprintf(command, sizeof command, "python3 %s %s", support_text("reader.py", python_reader), path);
    assert_int_equal(system(command), 0);
}

/* ---- what is never written ---- */

static void test_bad_names_and_text(void **state)
{
    kfe_context *ctx = *state;
    kfe_i_safetensors file;

    fill(ctx, &file);
    assert_fails(ctx, KFE_EINVAL, "two tensors",
                 kfe_i_safetensors_add(&file, "reals", KFE_DTYPE_F64, 1, -1, reals));
    assert_fails(ctx, KFE_EINVAL, "__metadata__",
                 kfe_i_safetensors_add(&file, "__metadata__", KFE_DTYPE_F64, 1, -1, reals));
    assert_fails(ctx, KFE_EINVAL, "cannot be",
                 kfe_i_safetensors_add(&file, "huge", KFE_DTYPE_F64, INT64_MAX / 4, 3, reals));
    assert_fails(ctx, KFE_EINVAL, "not UTF-8", kfe_i_safetensors_set(&file, "label", "gr\xfcn"));
    assert_fails(ctx, KFE_EIO, "directory", kfe_i_safetensors_write(&file, support_path(".")));
    assert_fails(ctx, KFE_EIO, "make it first", kfe_i_safetensors_write(&file, support_path("no/m.kfe")));
    kfe_i_safetensors_free(&file);
}

/* ---- hostile and broken files ---- */

static void test_truncated_anywhere(void **state)
{
    kfe_context *ctx = *state;
    size_t size = read_back(write_example(ctx, "whole.kfe"));
    kfe_i_safetensors file;

    for (size_t length = 0; length < size; length++) {
        const char *path = support_file("cut.kfe", made, length);
        assert_int_equal(kfe_i_safetensors_parse(ctx, "cut", made, length, &file), KFE_EMODEL);
        assert_int_equal(kfe_i_safetensors_read(ctx, path, &file), KFE_EMODEL);
    }
    assert_refused(ctx, size - 1, "cut short; copy it again");
    made[size] = 0;
    assert_refused(ctx, size + 1, "1 bytes at the end belong to no tensor");
}

/* Every flipped bit, in payload or header, is detected. */
static void test_every_flipped_bit(void **state)
{
    kfe_context *ctx = *state;
    size_t size = read_back(write_example(ctx, "flip.kfe"));

    for (size_t bit = 0; bit < 8 * size; bit++) {
        kfe_i_safetensors file;
        made[bit / 8] ^= (unsigned char)(1u << bit % 8);
        assert_int_equal(kfe_i_safetensors_parse(ctx, "flip", made, size, &file), KFE_EMODEL);
        made[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
}

static void test_header_length(void **state)
{
    kfe_context *ctx = *state;
    const unsigned char huge[] = {255, 255, 255, 255, 255, 255, 255, 255, '{', '}'};
    const unsigned char above_limit[] = {1, 225, 245, 5, 0, 0, 0, 0, '{', '}'}; /* 100 000 001 */
    const unsigned char at_limit[] = {0, 225, 245, 5, 0, 0, 0, 0, '{', '}'};
    const unsigned char one_more[] = {3, 0, 0, 0, 0, 0, 0, 0, '{', '}'};

    memcpy(made, huge, sizeof huge);
    assert_refused(ctx, sizeof huge, "not a model file");
    memcpy(made, above_limit, sizeof above_limit);
    assert_refused(ctx, sizeof above_limit, "not a model file");
    memcpy(made, at_limit, sizeof at_limit);
    assert_refused(ctx, sizeof at_limit, "cut short within its header");
    memcpy(made, one_more, sizeof one_more);
    assert_refused(ctx, sizeof one_more, "cut short within its header");
    assert_refused(ctx, 7, "too few");
    assert_refused(ctx, 0, "empty");
    assert_refused(ctx, assemble("", 0, "", 0), "does not begin with '{'");
}

static void test_malformed_headers(void **state)
{
    kfe_context *ctx = *state;
    static const struct {
        const char *header, *reason;
    } cases[] = {
        {"hello, world", "does not begin with '{'"},
        {" {}", "does not begin with '{'"},
        {"{\"a\":", "cannot be read"},
        {"{} {}", "cannot be read"},
        {"{\"\xff\":1}", "cannot be read"},
        {"{\"__metadata__\":{},\"__metadata__\":{}}", "duplicate"},
        {"{\"a\\u0000b\":1}", "cannot be read"},
        {"{}", "no metadata"},
        {"{\"__metadata__\":[]}", "no metadata"},
        {"{\"__metadata__\":{\"a\":1}}", "'a' is not a string"},
        {"{\"__metadata__\":{\"a\":null}}", "'a' is not a string"},
        {"{\"__metadata__\":{\"a\":\"b\"}}", "no sha256"},
        {"{\"__metadata__\":{\"sha256\":\"\"}}", "altered or damaged"},
    };

    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        assert_refused(ctx, assemble(cases[k].header, strlen(cases[k].header), "", 0), cases[k].reason);
    assert_refused(ctx, assemble("{\"__metadata__\0\":{}}", 20, "", 0), "cannot be read");
    assert_refused(ctx, assemble("{\0}", 3, "", 0), "cannot be read");
}

static void test_deep_nesting(void **state)
{
    kfe_context *ctx = *state;
    static char header[6000] = "{\"a\":";

    memset(header + 5, '[', sizeof header - 5);
    assert_refused(ctx, assemble(header, sizeof header, "", 0), "cannot be read");
}

static void test_bad_tensors(void **state)
{
    kfe_context *ctx = *state;
    static const struct {
        const char *entries, *reason;
    } cases[] = {
        {"\"t\":1", "does not describe a tensor"},
        {"\"t\":{}", "no dtype"},
        {"\"t\":{\"dtype\":8,\"shape\":[2],\"data_offsets\":[0,16]}", "no dtype"},
        {"\"t\":{\"dtype\":\"BF16\",\"shape\":[8],\"data_offsets\":[0,16]}", "is of type BF16"},
        {"\"t\":{\"dtype\":\"F64\",\"data_offsets\":[0,16]}", "no shape"},
        {"\"t\":{\"dtype\":\"F64\",\"shape\":2,\"data_offsets\":[0,16]}", "no shape"},
        {"\"t\":{\"dtype\":\"F64\",\"shape\":[1,1,1,1,2],\"data_offsets\":[0,16]}", "at most 4"},
        {"\"t\":{\"dtype\":\"F64\",\"shape\":[-2],\"data_offsets\":[0,16]}", "not a count"},
        {"\"t\":{\"dtype\":\"F64\",\"shape\":[2.0],\"data_offsets\":[0,16]}", "not a count"},
        {"\"t\":{\"dtype\":\"F64\",\"shape\":[\"2\"],\"data_offsets\":[0,16]}", "not a count"},
        {"\"t\":{\"dtype\":\"F64\",\"shape\":[18446744073709551618],\"data_offsets\":[0,16]}",
         "cannot be read"},
        {"\"t\":{\"dtype\":\"F64\",\"shape\":[4611686018427387904,8],\"data_offsets\":[0,16]}", "overflows"},
        {"\"t\":{\"dtype\":\"F64\",\"shape\":[2305843009213693954],\"data_offsets\":[0,16]}", "overflows"},
        {"\"t\":{\"dtype\":\"F64\",\"shape\":[4611686018427387904,4,0],\"data_offsets\":[0,0]}", "overflows"},
        {"\"t\":{\"dtype\":\"F64\",\"shape\":[2]}", "no pair of data_offsets"},
        {"\"t\":{\"dtype\":\"F64\",\"shape\":[2],\"data_offsets\":[0,16,32]}", "no pair of data_offsets"},
        {"\"t\":{\"dtype\":\"F64\",\"shape\":[2],\"data_offsets\":[0,16.0]}", "no pair of data_offsets"},
        {"\"t\":{\"dtype\":\"F64\",\"shape\":[2],\"data_offsets\":[-16,0]}", "not a range"},
        {"\"t\":{\"dtype\":\"F64\",\"shape\":[2],\"data_offsets\":[16,0]}", "not a range"},
        {"\"t\":{\"dtype\":\"F64\",\"shape\":[3],\"data_offsets\":[0,24]}", "past the end"},
        {"\"t\":{\"dtype\":\"F64\",\"shape\":[2],\"data_offsets\":[9223372036854775791,9223372036854775807]}",
         "past the end"},
        {"\"t\":{\"dtype\":\"F64\",\"shape\":[1],\"data_offsets\":[0,16]}",
         "16 bytes, but its shape needs 8"},
        {"\"t\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]},"
         "\"u\":{\"dtype\":\"F64\",\"shape\":[1],\"data_offsets\":[4,12]}",
         "multiple of its element"},
        {"\"t\":{\"dtype\":\"F64\",\"shape\":[2],\"data_offsets\":[0,16]},"
         "\"u\":{\"dtype\":\"F64\",\"shape\":[1],\"data_offsets\":[8,16]}",
         "'u' overlaps"},
        {"\"t\":{\"dtype\":\"F64\",\"shape\":[2],\"data_offsets\":[0,16]},"
         "\"u\":{\"dtype\":\"F64\",\"shape\":[2],\"data_offsets\":[0,16]}",
         "overlaps"},
        {"\"t\":{\"dtype\":\"F64\",\"shape\":[1],\"data_offsets\":[8,16]}", "hole before tensor 't'"},
        {"\"t\":{\"dtype\":\"F64\",\"shape\":[1],\"data_offsets\":[0,8]}", "8 bytes at the end"},
        {"", "16 bytes at the end"},
        {"\"t\":{\"dtype\":\"F64\",\"shape\":[2],\"data_offsets\":[0,16]},"
         "\"t\":{\"dtype\":\"F64\",\"shape\":[2],\"data_offsets\":[0,16]}",
         "duplicate"},
    };

    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        assert_entries_refused(ctx, cases[k].entries, cases[k].reason);
}

/* A sound file made by hand loads; otherwise the refusals above could have another cause. */
static void test_good_tensors_made_by_hand(void **state)
{
    kfe_context *ctx = *state;
    static const double payload[2] = {2.5, -3};
    kfe_i_safetensors file;
    size_t size = assemble_described("\"b\":{\"dtype\":\"F64\",\"shape\":[],\"data_offsets\":[8,16]},"
                                     "\"a\":{\"dtype\":\"F64\",\"shape\":[1,1,1],\"data_offsets\":[0,8]},"
                                     "\"z\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[8,8]}",
                                     "b|F64|a|F64|1|1|1|z|U8|0|", payload, sizeof payload);

    assert_ok(ctx, kfe_i_safetensors_parse(ctx, "hand", made, size, &file));
    assert_tensor(&file, "a", KFE_DTYPE_F64, 3, 1, &payload[0], 8);
    assert_tensor(&file, "b", KFE_DTYPE_F64, 0, 1, &payload[1], 8);
    kfe_i_safetensors_free(&file);
}

static void test_files_that_cannot_be_read(void **state)
{
    kfe_context *ctx = *state;
    kfe_i_safetensors file;
    const char *pipe = support_path("pipe");

    assert_fails(ctx, KFE_EIO, "No such file", kfe_i_safetensors_read(ctx, support_path("gone"), &file));
    assert_fails(ctx, KFE_EIO, "directory", kfe_i_safetensors_read(ctx, support_path("."), &file));
    assert_fails(ctx, KFE_EMODEL, "empty", kfe_i_safetensors_read(ctx, support_text("zero", ""), &file));
    assert_int_equal(mkfifo(pipe, 0600), 0);
    assert_fails(ctx, KFE_EIO, "plain files", kfe_i_safetensors_read(ctx, pipe, &file));
}

static void test_memory_limit(void **state)
{
    kfe_context *ctx = *state;
    kfe_i_safetensors file;
    const char *path = write_example(ctx, "limit.kfe");

    assert_ok(ctx, kfe_context_set_memory(ctx, 1000));
    assert_fails(ctx, KFE_ELIMIT, "header", kfe_i_safetensors_read(ctx, path, &file));
}

static kfe_status write_and_read(kfe_context *ctx, void *path)
{
    kfe_status status = KFE_OK;
    kfe_i_safetensors written;
    kfe_i_safetensors read = {0};

    kfe_i_safetensors_init(ctx, &written);
    KFE_TRY(kfe_i_safetensors_add(&written, "a", KFE_DTYPE_F64, 2, 3, reals));
    KFE_TRY(kfe_i_safetensors_set(&written, "key", "value"));
    KFE_TRY(kfe_i_safetensors_set(&written, "key", "other"));
    KFE_TRY(kfe_i_safetensors_write(&written, path));
    KFE_TRY(kfe_i_safetensors_read(ctx, path, &read));
cleanup:
    kfe_i_safetensors_free(&written);
    kfe_i_safetensors_free(&read);
    return status;
}

static void test_allocation_failures(void **state)
{
    char path[512];

    (void)state;
    snprintf(path, sizeof path, "%s", support_path("failing.kfe"));
    support_sweep_all("safetensors", write_and_read, path, 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_round_trip),
        with_context(test_same_content_gives_same_bytes),
        with_context(test_empty_container),
        with_context(test_python_reads_it),
        with_context(test_bad_names_and_text),
        with_context(test_truncated_anywhere),
        with_context(test_every_flipped_bit),
        with_context(test_header_length),
        with_context(test_malformed_headers),
        with_context(test_deep_nesting),
        with_context(test_bad_tensors),
        with_context(test_good_tensors_made_by_hand),
        with_context(test_files_that_cannot_be_read),
        with_context(test_memory_limit),
        cmocka_unit_test(test_allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
