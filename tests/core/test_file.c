/* SPDX-License-Identifier: Apache-2.0 */
/* Output files: whole or not at all, through symbolic links, next to leftovers of killed runs, and never over
 * a file that may not be written. Also escaping of control characters. */
#include "support/support.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/file.h"

static int count_files(void)
{
    DIR *listing = opendir(support_path("."));
    int count = 0;

    assert_non_null(listing);
    for (struct dirent *entry; (entry = readdir(listing));)
        count += entry->d_name[0] != '.';
    closedir(listing);
    return count;
}

static void assert_content(const char *path, const char *expected)
{
    char content[64] = {0};
    FILE *stream = fopen(path, "rb");

    assert_non_null(stream);
    assert_int_equal(fread(content, 1, sizeof content - 1, stream), strlen(expected));
    fclose(stream);
    assert_string_equal(content, expected);
}

static void write_out(kfe_context *ctx, const char *path, const char *content)
{
    kfe_i_outfile out;

    assert_ok(ctx, kfe_i_outfile_open(ctx, path, &out));
    assert_ok(ctx, kfe_i_outfile_write(&out, content, strlen(content)));
    assert_ok(ctx, kfe_i_outfile_commit(&out));
    kfe_i_outfile_abandon(&out);
}

static void test_file_appears_whole_or_not_at_all(void **state)
{
    kfe_context *ctx = *state;
    const char *path = support_path("whole.txt");
    int before = count_files();
    kfe_i_outfile out;

    assert_ok(ctx, kfe_i_outfile_open(ctx, path, &out));
    assert_ok(ctx, kfe_i_outfile_write(&out, "half", 4));
    assert_int_not_equal(access(path, F_OK), 0);
    kfe_i_outfile_abandon(&out);
    assert_int_equal(count_files(), before);
    write_out(ctx, path, "first");
    assert_content(path, "first");
    assert_int_equal(count_files(), before + 1);
    assert_ok(ctx, kfe_i_outfile_open(ctx, path, &out));
    assert_ok(ctx, kfe_i_outfile_write(&out, "second", 6));
    assert_content(path, "first");
    kfe_i_outfile_abandon(&out);
    assert_content(path, "first");
    assert_int_equal(count_files(), before + 1);
}

static void test_replaced_file_keeps_its_mode(void **state)
{
    kfe_context *ctx = *state;
    const char *path = support_text("mode.txt", "old");
    struct stat info;

    assert_int_equal(chmod(path, 0640), 0);
    write_out(ctx, path, "new");
    assert_content(path, "new");
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0640);
}

static void test_places_that_cannot_be_written(void **state)
{
    kfe_context *ctx = *state;
    int before = count_files();
    kfe_i_outfile out;

    assert_fails(ctx, KFE_EIO, "the directory does not exist: make it first",
                 kfe_i_outfile_open(ctx, support_path("missing/file"), &out));
    kfe_i_outfile_abandon(&out);
    assert_fails(ctx, KFE_EIO, "it is a directory; name a file",
                 kfe_i_outfile_open(ctx, support_path("."), &out));
    kfe_i_outfile_abandon(&out);
    assert_int_equal(count_files(), before);
}

static void test_full_disk(void **state)
{
    kfe_context *ctx = *state;
    kfe_i_outfile out;

    if (access("/dev/full", W_OK) != 0) {
        print_message("there is no /dev/full\n");
        skip();
    }
    assert_ok(ctx, kfe_i_outfile_open(ctx, "/dev/full", &out));
    assert_ok(ctx, kfe_i_outfile_write(&out, "x", 1));
    assert_fails(ctx, KFE_EIO, "No space left on device; free some space", kfe_i_outfile_commit(&out));
    assert_int_equal(access("/dev/full", W_OK), 0);
}

static void test_outfile_allocation_failures(void **state)
{
    const char *path = support_path("sweep.txt");

    (void)state;
    support_allocator allocator = {.fail_at = 2};
    kfe_context *ctx = NULL;
    kfe_i_outfile out;
    assert_int_equal(kfe_context_new_with(support_reallocate, &allocator, &ctx), KFE_OK);
    assert_int_equal(kfe_i_outfile_open(ctx, path, &out), KFE_ENOMEM);
    kfe_i_outfile_abandon(&out);
    kfe_context_free(ctx);
    assert_int_equal(allocator.live, 0);
    assert_int_not_equal(access(path, F_OK), 0);
}

/* ---- symbolic links ---- */

static void assert_link(const char *path, const char *target)
{
    char found[512] = {0};

    assert_true(readlink(path, found, sizeof found - 1) > 0);
    assert_string_equal(found, target);
}

static void test_links_are_followed(void **state)
{
    kfe_context *ctx = *state;
    char target[512];

    snprintf(target, sizeof target, "%s", support_text("target.txt", "old"));
    assert_int_equal(symlink("target.txt", support_path("relative")), 0);
    assert_int_equal(symlink(support_path("relative"), support_path("absolute")), 0);
    write_out(ctx, support_path("relative"), "one");
    assert_content(target, "one");
    assert_link(support_path("relative"), "target.txt");
    write_out(ctx, support_path("absolute"), "two");
    assert_content(target, "two");
    assert_link(support_path("absolute"), support_path("relative"));
}

/* The link lies in another folder: its target is relative to that folder, and the temporary file lies next to
 * the target. */
static void test_link_into_another_folder(void **state)
{
    kfe_context *ctx = *state;
    int before;
    kfe_i_outfile out;

    assert_int_equal(mkdir(support_path("links"), 0700), 0);
    assert_int_equal(symlink("../elsewhere.txt", support_path("links/name")), 0);
    before = count_files();
    assert_ok(ctx, kfe_i_outfile_open(ctx, support_path("links/name"), &out));
    assert_int_equal(count_files(), before + 1);
    assert_ok(ctx, kfe_i_outfile_write(&out, "new", 3));
    assert_ok(ctx, kfe_i_outfile_commit(&out));
    assert_content(support_path("elsewhere.txt"), "new"); /* a dangling link creates its target */
    assert_link(support_path("links/name"), "../elsewhere.txt");
}

static void test_links_in_a_circle(void **state)
{
    kfe_context *ctx = *state;
    int before;

    assert_int_equal(symlink("circle2", support_path("circle1")), 0);
    assert_int_equal(symlink("circle1", support_path("circle2")), 0);
    before = count_files();
    assert_fails(ctx, KFE_EIO, "symbolic links lead in a circle",
                 kfe_output_check(ctx, support_path("circle1")));
    assert_int_equal(symlink("missing/file", support_path("astray")), 0);
    assert_fails(ctx, KFE_EIO, "the directory does not exist", kfe_output_check(ctx, support_path("astray")));
    assert_int_equal(count_files(), before + 1);
}

/* ---- names ---- */

static void test_long_names(void **state)
{
    kfe_context *ctx = *state;
    char name[300];
    char last[256];

    memset(name, 'n', sizeof name);
    name[255] = '\0';
    write_out(ctx, support_path(name), "first"); /* the name leaves no room for a longer temporary name */
    write_out(ctx, support_path(name), "second");
    assert_content(support_path(name), "second");
    memset(last, 'n', sizeof last);
    for (int i = 0; i < 127; i++) /* 127 characters of two bytes each; shortening must not split one */
        memcpy(last + 2 * i, "\xc3\xa4", 2);
    last[254] = '\0';
    write_out(ctx, support_path(last), "third");
    assert_content(support_path(last), "third");
    name[255] = 'n';
    name[256] = '\0';
    assert_fails(ctx, KFE_EIO, "give a shorter name", kfe_output_check(ctx, support_path(name)));
    assert_fails(ctx, KFE_EIO, "is empty", kfe_output_check(ctx, ""));
    assert_fails(ctx, KFE_EINVAL, "no name", kfe_output_check(ctx, NULL));
    assert_fails(ctx, KFE_EIO, "name a file", kfe_output_check(ctx, support_path("new/")));
}

/* ---- leftovers of killed runs ---- */

/* Starts a child that opens the file, writes half of it and is killed. */
static void leave_half(const char *path)
{
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        kfe_context *ctx = NULL;
        kfe_i_outfile out;
        if (kfe_context_new(&ctx) == KFE_OK && kfe_i_outfile_open(ctx, path, &out) == KFE_OK)
            kfe_i_outfile_write(&out, "half", 4);
        kill(getpid(), SIGKILL);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
}

static void test_leftovers_are_removed(void **state)
{
    kfe_context *ctx = *state;
    int before = count_files();
    kfe_i_outfile alive;
    char path[512];

    snprintf(path, sizeof path, "%s", support_path("killed.txt"));
    leave_half(path);
    leave_half(path);
    assert_int_equal(count_files(), before + 1); /* the second child removed the first one's leftover */
    support_text("killed.txt.mine.part", "a file of the user");
    support_text("killed.txt.12345678.part2", "another");
    assert_ok(ctx, kfe_i_outfile_open(ctx, path, &alive));
    assert_int_equal(count_files(), before + 3);
    /* a second writer does not disturb the first */
    write_out(ctx, path, "second");
    assert_int_equal(count_files(), before + 4);
    assert_ok(ctx, kfe_i_outfile_write(&alive, "first", 5));
    assert_ok(ctx, kfe_i_outfile_commit(&alive));
    assert_content(path, "first");
    assert_int_equal(count_files(), before + 3);
}

/* ---- files that may not be written ---- */

/* Root may write everything, so the check runs in a child without root's rights; the child exits with 0 if
 * the check fails. */
static void test_read_only_file_is_refused(void **state)
{
    const char *path = support_text("precious.txt", "keep");
    const char *folder = support_path(".");
    pid_t child;
    int result = 0;

    (void)state;
    assert_int_equal(chmod(path, 0444), 0);
    assert_int_equal(chmod(folder, 0777), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        kfe_context *ctx = NULL;
        if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
            _exit(3);
        if (kfe_context_new(&ctx) != KFE_OK)
            _exit(4);
        int refused = kfe_output_check(ctx, path) == KFE_EIO &&
                      strstr(kfe_error_message(ctx), "exists and you may not write it") &&
                      kfe_output_write(ctx, path, "new", 3) == KFE_EIO;
        _exit(refused ? 0 : 5);
    }
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(chmod(folder, 0700), 0);
    assert_true(WIFEXITED(result));
    assert_int_equal(WEXITSTATUS(result), 0);
    assert_content(path, "keep");
}

static void test_check_leaves_nothing(void **state)
{
    kfe_context *ctx = *state;
    const char *path = support_text("checked.txt", "old");
    int before = count_files();

    assert_ok(ctx, kfe_output_check(ctx, path));
    assert_ok(ctx, kfe_output_check(ctx, support_path("unborn.txt")));
    assert_ok(ctx, kfe_output_check(ctx, "-"));
    assert_ok(ctx, kfe_output_check(ctx, "/dev/null"));
    assert_content(path, "old");
    assert_int_equal(count_files(), before);
    assert_ok(ctx, kfe_output_write(ctx, path, "new", 3));
    assert_content(path, "new");
    assert_ok(ctx, kfe_output_write(ctx, path, NULL, 0));
    assert_content(path, "");
    assert_fails(ctx, KFE_EINVAL, "no bytes", kfe_output_write(ctx, path, NULL, 1));
}

/* ---- escaping ---- */

static void assert_escaped(const char *text, const char *expected)
{
    char shown[256];

    assert_int_equal(kfe_escape(text, shown, sizeof shown), strlen(expected));
    assert_string_equal(shown, expected);
}

static void test_escaping(void **state)
{
    char small[8];

    (void)state;
    assert_escaped("", "");
    assert_escaped("plain \\ text", "plain \\ text");
    assert_escaped("\x1b]0;evil\x07", "\\x1b]0;evil\\x07");
    assert_escaped("a\nb\tc\x7f", "a\\x0ab\\x09c\\x7f");
    assert_escaped("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80",
                   "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80");
    assert_escaped("\xc2\x9b"
                   "2J",
                   "\\xc2\\x9b"
                   "2J"); /* CSI as one character */
    assert_escaped("\x9b"
                   "2J",
                   "\\x9b"
                   "2J");                     /* not UTF-8 */
    assert_escaped("\xc0\x9b", "\\xc0\\x9b"); /* overlong encoding of ESC */
    assert_escaped("\xe2\x80\xae"
                   "x",
                   "\\xe2\\x80\\xae"
                   "x");                               /* right-to-left override */
    assert_escaped("\xe2\x80\x8f", "\\xe2\\x80\\x8f"); /* right-to-left mark */
    assert_escaped("\xd8\x9c", "\\xd8\\x9c");          /* Arabic letter mark */
    assert_escaped("\xed\xa0\x80", "\\xed\\xa0\\x80"); /* a surrogate */
    assert_escaped("cut \xe2\x82", "cut \\xe2\\x82");
    assert_int_equal(kfe_escape("ab\x1b"
                                "cd",
                                small, sizeof small),
                     8);
    assert_string_equal(small, "ab\\x1bc");
    assert_int_equal(kfe_escape("\x1b\x1b", small, sizeof small), 8);
    assert_string_equal(small, "\\x1b"); /* cut at a whole character */
    assert_int_equal(kfe_escape("ab", NULL, 0), 2);
}

static void test_messages_are_escaped(void **state)
{
    kfe_context *ctx = *state;

    support_catch_log(ctx);
    kfe_fail(ctx, KFE_EINPUT, "class \x1b[2J\r\n");
    assert_string_equal(kfe_error_message(ctx), "class \\x1b[2J\\x0d\\x0a");
    kfe_i_log(ctx, KFE_LOG_WARNING, "class %s", "\x1b[2J");
    assert_string_equal(support_log(), "class \\x1b[2J\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_context(test_file_appears_whole_or_not_at_all),
        with_context(test_replaced_file_keeps_its_mode),
        with_context(test_places_that_cannot_be_written),
        with_context(test_full_disk),
        cmocka_unit_test(test_outfile_allocation_failures),
        with_context(test_links_are_followed),
        with_context(test_link_into_another_folder),
        with_context(test_links_in_a_circle),
        with_context(test_long_names),
        with_context(test_leftovers_are_removed),
        with_context(test_read_only_file_is_refused),
        with_context(test_check_leaves_nothing),
        cmocka_unit_test(test_escaping),
        with_context(test_messages_are_escaped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
