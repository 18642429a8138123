/* SPDX-License-Identifier: Apache-2.0 */
/* Finds cuBLAS and cuSOLVER at run time, for all files of this folder. They are searched where the loader looks, in the folder
 * that KFE_CUDA_LIBRARIES names, beside the plug-in, among the packages of the Python that holds it (nvidia/cu13/lib), and in
 * /usr/local/cuda. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.cuh"

kfe_cuda_library kfe_cuda_lib;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char text[512];

typedef struct symbol {
    const char *name;
    void **address;
} symbol;

/* The folder of this plug-in, without a slash at its end; "" if it has no absolute path. */
static void own_folder(char *out, size_t size)
{
    Dl_info info;

    out[0] = '\0';
    if (!dladdr((void *)&lock, &info) || !info.dli_fname)
        return;
    snprintf(out, size, "%s", info.dli_fname);
    char *slash = strrchr(out, '/');
    if (slash)
        *slash = '\0';
    else
        out[0] = '\0';
}

static void *open_in(const char *folder, const char *below, const char *name)
{
    char path[1200];

    if (!folder || *folder != '/') /* never from the folder that the program runs in */
        return NULL;
    snprintf(path, sizeof path, "%s%s/%s", folder, below, name);
    return dlopen(path, RTLD_NOW | RTLD_GLOBAL);
}

/* `name` wherever it may be; NULL: nowhere. */
static void *open_library(const char *name)
{
    char own[1024];
    void *found = open_in(getenv("KFE_CUDA_LIBRARIES"), "", name);

    own_folder(own, sizeof own);
    if (!found)
        found = dlopen(name, RTLD_NOW | RTLD_GLOBAL);
    if (!found)
        found = open_in(own, "", name);
    if (!found)
        found = open_in(own, "/../nvidia/cu13/lib", name);
    if (!found)
        found = open_in("/usr/local/cuda", "/lib64", name);
    return found;
}

static const char *resolve(const char *library, const symbol *symbols, int count)
{
    void *handle = open_library(library);

    if (!handle) {
        const char *why = dlerror();
        snprintf(
            text, sizeof text,
            "%s was not found: install CUDA 13, or NVIDIA's Python packages (pip install kfe[cuda]), or set "
            "KFE_CUDA_LIBRARIES to its folder, as an absolute path (%s)",
            library, why ? why : "");
        return text;
    }
    for (int i = 0; i < count; i++) {
        *symbols[i].address = dlsym(handle, symbols[i].name);
        if (!*symbols[i].address) {
            snprintf(text, sizeof text, "%s has no function %s; this plug-in needs CUDA 13", library,
                     symbols[i].name);
            return text;
        }
    }
    return NULL;
}

#define KFE_TEXT_(x) #x
#define KFE_TEXT(x) KFE_TEXT_(x)
#define KFE_SYMBOL(function) {KFE_TEXT(function), (void **)&kfe_cuda_lib.function},

const char *kfe_cuda_load_cublas(void)
{
    static const symbol symbols[] = {KFE_CUBLAS_LIST(KFE_SYMBOL)};
    static int loaded;
    const char *missing = NULL;

    pthread_mutex_lock(&lock);
    if (!loaded) {
        open_library("libcublasLt.so.13"); /* cuBLAS asks for it by name */
        missing = resolve("libcublas.so.13", symbols, (int)(sizeof symbols / sizeof *symbols));
        loaded = !missing;
    }
    pthread_mutex_unlock(&lock);
    return missing;
}

const char *kfe_cuda_load_cusolver(void)
{
    static const symbol symbols[] = {KFE_CUSOLVER_LIST(KFE_SYMBOL)};
    static int loaded;
    const char *missing = NULL;

    pthread_mutex_lock(&lock);
    if (!loaded) {
        open_library("libnvJitLink.so.13"); /* cuSOLVER asks for these by name */
        open_library("libcusparse.so.12");
        missing = resolve("libcusolver.so.12", symbols, (int)(sizeof symbols / sizeof *symbols));
        loaded = !missing;
    }
    pthread_mutex_unlock(&lock);
    return missing;
}
