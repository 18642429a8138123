/* SPDX-License-Identifier: Apache-2.0 */
/* Available memory, computed from made-up files of /proc and /sys: plain machines, containers and batch
 * systems. */
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/context.h"
#include "system/system.h"

static char root[] = "/tmp/kfe-available-XXXXXX";

/* Writes a file below the root and creates its folders. */
static void put(const char *path, const char *text)
{
    char full[512];

    snprintf(full, sizeof full, "%s%s", root, path);
    for (char *slash = strchr(full + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(full, 0700);
        *slash = '/';
    }
    FILE *file = fopen(full, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static int make_root(void **state)
{
    (void)state;
    memcpy(root + strlen(root) - 6, "XXXXXX", 6);
    if (!mkdtemp(root))
        return -1;
    put("/proc/meminfo", "MemTotal:       16000000 kB\nMemFree: 1 kB\nMemAvailable:    8000000 kB\n");
    return 0;
}

static int remove_root(void **state)
{
    char command[64];

    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", root);
    return system(command);
}

static void test_without_groups(void **state)
{
    (void)state;
    assert_int_equal(kfe_i_available_memory(root), 8000000LL * 1024);
}

static void test_version_2(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "0::/user.slice/job\n");
    put("/sys/fs/cgroup/user.slice/job/memory.max", "max\n");
    put("/sys/fs/cgroup/user.slice/job/memory.current", "50000000\n");
    assert_int_equal(kfe_i_available_memory(root), 8000000LL * 1024);
    put("/sys/fs/cgroup/user.slice/job/memory.max", "400000000\n");
    assert_int_equal(kfe_i_available_memory(root), 350000000);
    put("/sys/fs/cgroup/user.slice/job/memory.stat",
        "anon 5\ninactive_file_of_others 7\ninactive_file 20000000\n");
    assert_int_equal(kfe_i_available_memory(root), 370000000);
    /* a parent with a tighter limit */
    put("/sys/fs/cgroup/user.slice/memory.max", "100000000\n");
    put("/sys/fs/cgroup/user.slice/memory.current", "60000000\n");
    assert_int_equal(kfe_i_available_memory(root), 40000000);
    /* a group that already exceeds its limit */
    put("/sys/fs/cgroup/user.slice/memory.current", "160000000\n");
    assert_int_equal(kfe_i_available_memory(root), 0);
}

static void test_version_2_inside_a_container(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "0::/\n");
    put("/sys/fs/cgroup/memory.max", "400000000\n");
    put("/sys/fs/cgroup/memory.current", "100000000\n");
    assert_int_equal(kfe_i_available_memory(root), 300000000);
}

static void test_version_1(void **state)
{
    (void)state;
    put("/proc/self/cgroup",
        "12:cpu,cpuacct:/docker/x\n5:memory:/docker/x\n1:name=systemd:/docker/x\n0::/other\n");
    put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    put("/sys/fs/cgroup/memory/memory.usage_in_bytes", "900\n");
    assert_int_equal(kfe_i_available_memory(root), 8000000LL * 1024);
    /* the group's own files are not visible; the mount shows the container's */
    put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "200000000\n");
    assert_int_equal(kfe_i_available_memory(root), 200000000 - 900);
}

static void test_odd_files(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "nonsense\n0::\n:::::\n0::/a/b/c\n");
    put("/sys/fs/cgroup/a/memory.max", "\n");
    put("/sys/fs/cgroup/a/memory.current", "");
    assert_int_equal(kfe_i_available_memory(root), 8000000LL * 1024);
}

/* Reading it costs as much as a small fit. */
static void test_it_is_read_seldom(void **state)
{
    kfe_context *ctx = NULL;
    (void)state;

    assert_int_equal(kfe_context_new(&ctx), KFE_OK);
    assert_true(kfe_context_memory(ctx) > 0);
    ctx->reading.available = 1000; /* as if it had been read just now */
    ctx->reading.when = kfe_i_clock();
    assert_int_equal(kfe_context_memory(ctx), 700);
    ctx->reading.in_use -= 1 << 25; /* much was allocated since */
    assert_true(kfe_context_memory(ctx) > 1000);
    ctx->reading.available = 1000;
    ctx->reading.when -= 1;
    assert_true(kfe_context_memory(ctx) > 1000);
    kfe_context_free(ctx);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_root, remove_root)
    const struct CMUnitTest tests[] = {
        TEST(test_without_groups), TEST(test_version_2), TEST(test_version_2_inside_a_container),
        TEST(test_version_1),      TEST(test_odd_files), cmocka_unit_test(test_it_is_read_seldom),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
