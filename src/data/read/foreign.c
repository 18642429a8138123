/* SPDX-License-Identifier: Apache-2.0 */
/* Names files that are not tables for what they are, by their first bytes; called by read.c before a reader is chosen. */
#include "data/read/foreign.h"

#include <string.h>

#define SAVE_AS_CSV "save it as CSV"
#define NOT_DATA "give a table: CSV, TSV, ARFF, LIBSVM, MatrixMarket, .npy or .npz"
#define AS_ROWS "convert the pixels of each image to a row of numbers"
#define BY_PANDAS(call) "convert it with Python: pandas." call "('FILE').to_csv('FILE.csv', index=False)"

/* Where the bytes stand; BINARY: a file of this kind has a NUL byte near its beginning, which tells it from text; ARROW: the plug-in
 * for Arrow files reads it. */
enum { BINARY = 1, ARROW = 2 };

typedef struct kind {
    int64_t offset;
    const char *bytes;
    int64_t length;
    int flags;
    const char *name, *advice;
} kind;

#define KIND_AT(offset, text, flags, name, advice)                                                           \
    {                                                                                                        \
        offset, text, sizeof(text) - 1, flags, name, advice                                                  \
    }
#define KIND(text, name, advice) KIND_AT(0, text, 0, name, advice)

static const kind kinds[] = {
    /* images */
    KIND("\x89PNG\r\n\x1a\n", "a PNG image", AS_ROWS),
    KIND("\xff\xd8\xff", "a JPEG image", AS_ROWS),
    KIND_AT(0, "GIF8", BINARY, "a GIF image", AS_ROWS),
    KIND_AT(0, "II*\0", BINARY, "a TIFF image", AS_ROWS),
    KIND_AT(0, "MM\0*", BINARY, "a TIFF image", AS_ROWS),
    KIND_AT(8, "WEBPVP8", BINARY, "a WebP image", AS_ROWS),
    KIND_AT(6, "\0\0\0\0\x36\0\0\0\x28\0\0\0", BINARY, "a BMP image", AS_ROWS),
    KIND_AT(128, "DICM", BINARY, "a DICOM image", AS_ROWS),
    KIND("SIMPLE  =", "a FITS file", "write its table as .npy, for example with astropy.io.fits"),
    /* documents */
    KIND("%PDF-", "a PDF document", NOT_DATA),
    KIND("<!DOCTYPE", "a web page", "download the data itself, not the page about it"),
    KIND("<!doctype", "a web page", "download the data itself, not the page about it"),
    KIND("<html", "a web page", "download the data itself, not the page about it"),
    KIND("<stata_dta>", "a Stata file", BY_PANDAS("read_stata")),
    KIND("<?xml", "an XML document", BY_PANDAS("read_xml")),
    KIND("{\"", "a JSON document", BY_PANDAS("read_json")),
    KIND("[{", "a JSON document", BY_PANDAS("read_json")),
    KIND("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Excel or other Office file", SAVE_AS_CSV),
    KIND("\xff\xfe", "UTF-16 text", "convert it with 'iconv -f utf-16 -t utf-8'"),
    KIND("\xfe\xff", "UTF-16 text", "convert it with 'iconv -f utf-16 -t utf-8'"),
    /* tables of other programs */
    KIND_AT(0, "PAR1", BINARY | ARROW, "a Parquet file", BY_PANDAS("read_parquet")),
    KIND_AT(0, "ARROW1", BINARY | ARROW, "a Feather (Arrow) file", BY_PANDAS("read_feather")),
    KIND_AT(0, "FEA1", BINARY, "a Feather (version 1) file", BY_PANDAS("read_feather")),
    KIND_AT(0, "\xff\xff\xff\xff", ARROW, "an Arrow stream",
            "convert it with Python: pyarrow.ipc.open_stream('FILE').read_pandas().to_csv('FILE.csv')"),
    KIND_AT(0, "ORC", BINARY, "an ORC file", BY_PANDAS("read_orc")),
    KIND("Obj\1", "an Avro file", "write it as CSV, for example with the Python package fastavro"),
    KIND("\x89HDF\r\n\x1a\n", "an HDF5 file",
         "write its table as .npy or .npz, for example with h5py and numpy.save"),
    KIND("CDF\1", "a NetCDF file", "write its table as .npy, for example with scipy.io.netcdf_file"),
    KIND("CDF\2", "a NetCDF file", "write its table as .npy, for example with scipy.io.netcdf_file"),
    KIND("MATLAB 5.0 MAT-file", "a MATLAB file",
         "write its matrix as .npy, for example with scipy.io.loadmat"),
    KIND("SQLite format 3", "an SQLite database",
         "write the table as CSV: sqlite3 -csv -header FILE 'select * from TABLE'"),
    KIND("RDX2\n", "an RData file",
         "write the data frame in R with write.csv(x, 'FILE.csv', row.names = FALSE)"),
    KIND("RDX3\n", "an RData file",
         "write the data frame in R with write.csv(x, 'FILE.csv', row.names = FALSE)"),
    KIND_AT(0, "X\n\0\0\0", BINARY, "an R object (.rds)",
            "write it in R with write.csv(readRDS('FILE'), 'FILE.csv', row.names = FALSE)"),
    KIND_AT(0, "$FL2", BINARY, "an SPSS file", BY_PANDAS("read_spss")),
    KIND_AT(12, "\xc2\xea\x81\x60\xb3\x14\x11\xcf", BINARY, "a SAS file", BY_PANDAS("read_sas")),
    KIND("\x80\2", "a Python pickle",
         "load it in Python and write .npy, .npz or CSV; pickles can run programs"),
    KIND("\x80\3", "a Python pickle",
         "load it in Python and write .npy, .npz or CSV; pickles can run programs"),
    KIND("\x80\4", "a Python pickle",
         "load it in Python and write .npy, .npz or CSV; pickles can run programs"),
    KIND("\x80\5", "a Python pickle",
         "load it in Python and write .npy, .npz or CSV; pickles can run programs"),
    /* archives and programs */
    KIND_AT(257, "ustar", 0, "a tar archive",
            "unpack it first with 'tar xf FILE', and give one of its files"),
    KIND("BZh", "a bzip2 archive", "unpack it first with 'bunzip2', or use gzip, xz or zstd"),
    KIND("\x04\x22\x4d\x18", "an LZ4 archive", "unpack it first with 'unlz4', or use gzip, xz or zstd"),
    KIND("7z\xbc\xaf\x27\x1c", "a 7-Zip archive", "unpack it first"),
    KIND("Rar!\x1a\7", "a RAR archive", "unpack it first"),
    KIND("\x7f"
         "ELF",
         "a program", NOT_DATA),
};

static int begins(const char *head, int64_t length, const char *bytes, int64_t count)
{
    return length >= count && memcmp(head, bytes, (size_t)count) == 0;
}

/* By the first entry of a zip file. */
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

static int is_kind(const kind *one, const char *head, int64_t length)
{
    enum { NEAR = 4096 };
    size_t near = (size_t)(length < NEAR ? length : NEAR);

    if (length < one->offset || !begins(head + one->offset, length - one->offset, one->bytes, one->length))
        return 0;
    return !(one->flags & BINARY) || memchr(head, 0, near) != NULL;
}

/* UTF-16 without a byte order mark: Latin-1 characters, each before (little endian) or after a NUL byte. */
static int is_utf16(const char *head, int64_t length, int big_endian)
{
    enum { NEAR = 64, FEWEST = 8 };
    int64_t near = length < NEAR ? length / 2 * 2 : NEAR;

    for (int64_t i = 0; i < near; i += 2) {
        unsigned char character = (unsigned char)head[i + big_endian];
        if (head[i + !big_endian] != 0 || character < '\t')
            return 0;
    }
    return near >= FEWEST;
}

/* FASTQ: a line '@…', a line of letters, and a line '+…'. */
static int is_fastq(const char *head, int64_t length)
{
    const char *end = head + length;
    const char *c = head;

    if (length == 0 || *head != '@')
        return 0;
    for (int line = 0; line < 2 && c; line++) {
        c = memchr(c, '\n', (size_t)(end - c));
        c = c && c + 1 < end ? c + 1 : NULL;
    }
    return c && *c == '+';
}

int kfe_i_is_arrow_file(const char *head, int64_t length)
{
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (kinds[k].flags & ARROW && is_kind(&kinds[k], head, length))
            return 1;
    return 0;
}

const char *kfe_i_foreign_kind(const char *head, int64_t length, const char **advice)
{
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (is_kind(&kinds[k], head, length)) {
            *advice = kinds[k].advice;
            return kinds[k].name;
        }
    if (is_fastq(head, length)) {
        *advice = "convert it to FASTA, for example with 'seqtk seq -A FILE'";
        return "a FASTQ file";
    }
    for (int big_endian = 0; big_endian < 2; big_endian++)
        if (is_utf16(head, length, big_endian)) {
            *advice = big_endian ? "convert it with 'iconv -f utf-16be -t utf-8'"
                                 : "convert it with 'iconv -f utf-16le -t utf-8'";
            return "UTF-16 text without a byte order mark";
        }
    if (is_model(head, length)) {
        *advice = "the model is named first, then the data";
        return "a model";
    }
    return zip_kind(head, length, advice);
}
