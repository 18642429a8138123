/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Describe what a file holds once: each call adds a value to a file that is saved, or takes it from one that is loaded and checks it.
 * model_file.c and its neighbours do so for models, accumulate/accumulator_file.c for sums.
 *
 * A file has tensors, texts (metadata), and texts that are JSON (documents). Saving writes to no value. Values that are loaded are owned by
 * the caller, who frees them also after a failure.
 */
#ifndef KFE_MODEL_FILE_EXCHANGE_H
#define KFE_MODEL_FILE_EXCHANGE_H

#include "core/json/json.h"
#include "core/json/json_read.h"
#include "model/file/safetensors.h"
#include "model/model.h"

typedef struct kfe_i_exchange {
    kfe_context *ctx;
    const char *name; /* of the file, for messages; NULL: the container is about to be saved */
    int saves;        /* 0: loads */
    int inner;        /* the file is inside another model file, and holds none itself */
    kfe_i_safetensors *file;
    kfe_model *model;
    char part[96]; /* see kfe_i_part_name */
} kfe_i_exchange;

/* Fails with KFE_EMODEL; `what` names the wrong part of the file. */
kfe_status kfe_i_damaged(const kfe_i_exchange *x, const char *what);
/* The same unless `sound`. */
kfe_status kfe_i_check_sound(const kfe_i_exchange *x, int sound, const char *what);

/* ---- tensors ---- */

/* An array of rows × cols; cols −1: of `rows` numbers. *array NULL, or a file without such a tensor, is a fault unless `optional`. Reals are
 * finite. */
kfe_status kfe_i_exchange_reals(const kfe_i_exchange *x, const char *name, int64_t rows, int64_t cols,
                                int optional, double **array);
kfe_status kfe_i_exchange_integers(const kfe_i_exchange *x, const char *name, int64_t rows, int64_t cols,
                                   int optional, int64_t **array);
kfe_status kfe_i_exchange_codes(const kfe_i_exchange *x, const char *name, int64_t rows, int32_t **array);
kfe_status kfe_i_exchange_bytes(const kfe_i_exchange *x, const char *name, int64_t count, char **array);
/* "PREFIX2.PART" for number 2, or "PREFIX.PART" for −1, until the next call. */
const char *kfe_i_part_name(kfe_i_exchange *x, const char *prefix, int64_t number, const char *part);
/* A table as NAME or, if it is not dense, NAME.row_start and its like; on loading it is one of strings, or has rows × cols numbers. */
kfe_status kfe_i_exchange_table(const kfe_i_exchange *x, const char *name, int strings, int64_t rows,
                                int64_t cols, kfe_i_table *table);
/* A linear map of `cols` columns: a matrix, or a vector that is its diagonal. Without the tensor, the map has no values. */
kfe_status kfe_i_exchange_map(const kfe_i_exchange *x, const char *name, int64_t cols, kfe_i_map *map);
/* NULL if the file has no such tensor. */
const kfe_i_tensor *kfe_i_exchange_find(const kfe_i_exchange *x, const char *name);

/* ---- texts ---- */

kfe_status kfe_i_exchange_text(const kfe_i_exchange *x, const char *key, int optional, char **text);
/* A number that is missing is 0. */
kfe_status kfe_i_exchange_number(const kfe_i_exchange *x, const char *key, int64_t *number);

/* ---- documents ---- */

/* Where a document is written or read: in an object or a list. */
typedef struct kfe_i_document {
    const kfe_i_exchange *x;
    const char *key; /* for messages */
    kfe_i_json json;
    kfe_i_json_tree tree;
    struct {
        const kfe_i_json_value *value, *next; /* the object or list; of a list the item that comes next */
    } levels[KFE_JSON_MOST_LEVELS];
    int depth;
} kfe_i_document;

/* Opens the text under a key; the type is KFE_JSON_OBJECT or KFE_JSON_ARRAY. Close it also after a failure, with its status, which comes
 * back. */
kfe_status kfe_i_document_open(const kfe_i_exchange *x, const char *key, kfe_i_json_type type,
                               kfe_i_document *out);
kfe_status kfe_i_document_close(kfe_i_document *document, kfe_status status);
/* Whether there is such a member: on saving `present`. */
int kfe_i_document_has(const kfe_i_document *document, const char *key, int present);
/* Goes into a member of an object or (key NULL) the next item of a list, and out again. */
kfe_status kfe_i_document_enter(kfe_i_document *document, const char *key, kfe_i_json_type type);
void kfe_i_document_leave(kfe_i_document *document);
/* The number of items of the list. */
void kfe_i_document_count(const kfe_i_document *document, int64_t *count);

/* Members of the object, or (key NULL) items of the list. */
kfe_status kfe_i_document_text(kfe_i_document *document, const char *key, int optional, char **text);
/* A number that is missing is 0. */
kfe_status kfe_i_document_integer(kfe_i_document *document, const char *key, int64_t *number);
void kfe_i_document_flag(kfe_i_document *document, const char *key, int *flag);
/* One of the words "a|b|c". */
kfe_status kfe_i_document_word(kfe_i_document *document, const char *key, const char *words, int *index);
/* A list of texts, and the texts of the list that the document is in. */
kfe_status kfe_i_document_names(kfe_i_document *document, const char *key, int64_t *count, char ***names);
kfe_status kfe_i_document_items(kfe_i_document *document, int64_t *count, char ***names);
/* A kernel; `resolved`: all its parameters are numbers: without training data a word such as `scale` means nothing. */
kfe_status kfe_i_document_kernel(kfe_i_document *document, const char *key, int resolved,
                                 kfe_i_kernel *kernel);

#endif
