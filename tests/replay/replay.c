/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a fuzzing harness on the named files and folders without libFuzzer, so with any compiler and under
 * valgrind. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size, size_t most);

/* The harnesses' mutators refer to this function; nothing calls them here. */
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size, size_t most)
{
    (void)bytes;
    (void)most;
    return size;
}

static int run_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    struct stat about;

    if (!file || stat(path, &about) != 0) {
        perror(path);
        exit(2);
    }
    size_t size = (size_t)about.st_size;
    uint8_t *bytes = malloc(size ? size : 1);
    if (!bytes || fread(bytes, 1, size, file) != size) {
        perror(path);
        exit(2);
    }
    fclose(file);
    LLVMFuzzerTestOneInput(bytes, size);
    free(bytes);
    return 1;
}

static int run_folder(const char *path)
{
    struct dirent **names = NULL;
    int count = scandir(path, &names, NULL, alphasort);
    int done = 0;

    for (int i = 0; i < count; i++) {
        char file[4096];
        snprintf(file, sizeof file, "%s/%s", path, names[i]->d_name);
        if (names[i]->d_name[0] != '.')
            done += run_file(file);
        free(names[i]);
    }
    free(names);
    return done;
}

int main(int count, char **arguments)
{
    int done = 0;

    for (int i = 1; i < count; i++) {
        struct stat about;
        if (stat(arguments[i], &about) == 0 && S_ISDIR(about.st_mode))
            done += run_folder(arguments[i]);
        else
            done += run_file(arguments[i]);
    }
    printf("%d inputs\n", done);
    return done > 0 ? 0 : 2; /* without input nothing was tested */
}
