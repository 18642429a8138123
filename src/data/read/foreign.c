/* SPDX-License-Identifier: Apache-2.0 */
/* Names files that are not tables for what they are, by their first bytes; called by read.c before a reader is chosen. */
#include "data/read/foreign.h"

#include <string.h>

#define SAVE_AS_CSV "save it as CSV"
#define NOT_DATA "give a table: CSV, TSV, LIBSVM, .npy or .npz"

typedef struct kind {
    const char *bytes;
    int64_t length;
    const char *name, *advice;
} kind;

#define KIND(text, name, advice)                                                                             \
    {                                                                                                        \
        text, sizeof(text) - 1, name, advice                                                                 \
    }

static const kind kinds[] = {
    KIND("\x89PNG\r\n\x1a\n", "a PNG image", "convert the pixels of each image to a row of numbers"),
    KIND("\xff\xd8\xff", "a JPEG image", "convert the pixels of each image to a row of numbers"),
    KIND("GIF8", "a GIF image", "convert the pixels of each image to a row of numbers"),
    KIND("%PDF-", "a PDF document", NOT_DATA),
    KIND("PAR1", "a Parquet file",
         "write it as CSV or .npz, for example with pandas' read_parquet and to_csv"),
    KIND("ARROW1", "a Feather (Arrow) file",
         "write it as CSV or .npz, for example with pandas' read_feather and to_csv"),
    KIND("\x89HDF\r\n\x1a\n", "an HDF5 file",
         "write its table as .npy or .npz, for example with h5py and numpy.save"),
    KIND("MATLAB 5.0 MAT-file", "a MATLAB file",
         "write its matrix as .npy, for example with scipy.io.loadmat"),
    KIND("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Excel or other Office file", SAVE_AS_CSV),
    KIND("SQLite format 3", "an SQLite database", "write the table as CSV"),
    KIND("\xfd"
         "7zXZ",
         "an xz archive", "unpack it first, or use gzip"),
    KIND("BZh", "a bzip2 archive", "unpack it first, or use gzip"),
    KIND("\x28\xb5\x2f\xfd", "a Zstandard archive", "unpack it first, or use gzip"),
    KIND("7z\xbc\xaf\x27\x1c", "a 7-Zip archive", "unpack it first"),
    KIND("\x7f"
         "ELF",
         "a program", NOT_DATA),
};

static int begins(const char *head, int64_t length, const char *bytes, int64_t count)
{
    return length >= count && memcmp(head, bytes, (size_t)count) == 0;
}

/* The first entry of a zip file; NumPy's archives hold arrays called NAME.npy. */
static const char *zip_kind(const char *head, int64_t length, const char **advice)
{
    enum { NAME = 30 }; /* where the name of the first entry begins; its length is two bytes at 26 */
    int64_t name_length;
    const char *name;

    if (!begins(head, length, "PK\3\4", 4) || length < NAME)
        return NULL;
    name = head + NAME;
    name_length = (unsigned char)head[26] + 256 * (unsigned char)head[27];
    name_length = name_length < length - NAME ? name_length : length - NAME;
    if (name_length >= 4 && memcmp(name + name_length - 4, ".npy", 4) == 0)
        return NULL;
    *advice = SAVE_AS_CSV;
    if (begins(name, name_length, "[Content_Types].xml", 19) || begins(name, name_length, "xl/", 3) ||
        begins(name, name_length, "_rels/", 6) || begins(name, name_length, "docProps/", 9))
        return "an Excel (.xlsx) or other Office file";
    if (begins(name, name_length, "mimetype", 8))
        return "an OpenDocument file";
    *advice = "unpack it first";
    return "a zip archive without NumPy arrays";
}

/* A model of kfe: eight bytes with the length of a JSON header, which begins with its metadata. */
static int is_model(const char *head, int64_t length)
{
    static const char begin[] = "{\"__metadata__\"";
    return length > 8 && begins(head + 8, length - 8, begin, (int64_t)sizeof begin - 1);
}

const char *kfe_i_foreign_kind(const char *head, int64_t length, const char **advice)
{
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (begins(head, length, kinds[k].bytes, kinds[k].length)) {
            *advice = kinds[k].advice;
            return kinds[k].name;
        }
    if (is_model(head, length)) {
        *advice = "the model is named first, then the data";
        return "a model";
    }
    return zip_kind(head, length, advice);
}
