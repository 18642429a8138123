/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts, temporary files, the counting allocator and the log, for all tests. */
#include "support/support.h"

#include <dirent.h>
#include <malloc.h>
#include <stdio.h>
#include <unistd.h>

int support_context_setup(void **state)
{
    kfe_context *ctx = NULL;
    if (kfe_context_new(&ctx) != KFE_OK)
        return -1;
    *state = ctx;
    /* tests/mpi runs some programs once more in several processes that share the work */
    if (getenv("KFE_TEST_CLUSTER") && kfe_context_set_cluster(ctx, NULL) != KFE_OK)
        fail_msg("%s", kfe_error_message(ctx));
    return 0;
}

int support_context_teardown(void **state)
{
    kfe_context_free(*state);
    return 0;
}

static char directory[64];

static void remove_directory(void)
{
    DIR *listing = opendir(directory);
    struct dirent *entry;
    char path[512];

    while (listing && (entry = readdir(listing))) {
        snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        unlink(path);
    }
    if (listing)
        closedir(listing);
    rmdir(directory);
}

const char *support_path(const char *name)
{
    static char paths[4][512];
    static int next;
    char *path = paths[next++ % 4];

    if (!directory[0]) {
        strcpy(directory, "/tmp/kfe_test_XXXXXX");
        if (!mkdtemp(directory))
            fail_msg("no temporary directory");
        atexit(remove_directory);
    }
    snprintf(path, sizeof paths[0], "%s/%s", directory, name);
    return path;
}

const char *support_file(const char *name, const void *bytes, size_t size)
{
    const char *path = support_path(name);
    FILE *file = fopen(path, "wb");

    if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0)
        fail_msg("cannot write %s", path);
    return path;
}

void *support_reallocate(void *user, void *block, size_t size)
{
    support_allocator *allocator = user;
    int64_t before = (int64_t)malloc_usable_size(block);

    if (size == 0) {
        allocator->live -= block != NULL;
        allocator->bytes -= before;
        free(block);
        return NULL;
    }
    if (++allocator->calls == allocator->fail_at)
        return NULL;
    void *resized = realloc(block, size);
    allocator->live += resized && !block;
    allocator->bytes += resized ? (int64_t)malloc_usable_size(resized) - before : 0;
    allocator->peak = allocator->bytes > allocator->peak ? allocator->bytes : allocator->peak;
    return resized;
}

static char log_text[65536];

static void append_log(void *user, kfe_level level, const char *text)
{
    size_t used = strlen(log_text);
    (void)user;
    (void)level;
    snprintf(log_text + used, sizeof log_text - used, "%s\n", text);
}

void support_catch_log(kfe_context *ctx)
{
    log_text[0] = '\0';
    kfe_context_on_log(ctx, append_log, NULL);
}

const char *support_log(void)
{
    static char taken[sizeof log_text];
    strcpy(taken, log_text);
    log_text[0] = '\0';
    return taken;
}
