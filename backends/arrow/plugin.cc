// SPDX-License-Identifier: Apache-2.0
// The plug-in libkfe_arrow.so: opens Parquet, Feather and Arrow files with the Arrow C++ library (version 9 or newer).
#include <arrow/api.h>
#include <arrow/c/bridge.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/reader.h>
#include <arrow/util/config.h>
#include <parquet/arrow/reader.h>

#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <string>

#include "plugin/parquet.h"

namespace {

using File = std::shared_ptr<arrow::io::RandomAccessFile>;
using Table = std::shared_ptr<arrow::Table>;

arrow::Result<Table> read_parquet(const File &file)
{
    Table table;
#if ARROW_VERSION_MAJOR >= 19
    ARROW_ASSIGN_OR_RAISE(auto reader, parquet::arrow::OpenFile(file, arrow::default_memory_pool()));
#else
    std::unique_ptr<parquet::arrow::FileReader> reader;
    ARROW_RETURN_NOT_OK(parquet::arrow::OpenFile(file, arrow::default_memory_pool(), &reader));
#endif
#if ARROW_VERSION_MAJOR >= 24
    ARROW_ASSIGN_OR_RAISE(table, reader->ReadTable());
#else
    ARROW_RETURN_NOT_OK(reader->ReadTable(&table));
#endif
    return table;
}

// Feather files, from version 2 on, are Arrow files.
arrow::Result<Table> read_arrow(const File &file)
{
    arrow::RecordBatchVector batches;
    ARROW_ASSIGN_OR_RAISE(auto reader, arrow::ipc::RecordBatchFileReader::Open(file));
    for (int i = 0; i < reader->num_record_batches(); i++) {
        ARROW_ASSIGN_OR_RAISE(auto batch, reader->ReadRecordBatch(i));
        batches.push_back(batch);
    }
    return arrow::Table::FromRecordBatches(reader->schema(), batches);
}

arrow::Result<Table> read_stream(const File &file)
{
    ARROW_ASSIGN_OR_RAISE(auto reader, arrow::ipc::RecordBatchStreamReader::Open(file));
    return reader->ToTable();
}

bool begins(const void *bytes, int64_t count, const char *magic)
{
    const auto length = static_cast<int64_t>(std::strlen(magic));
    return count >= length && std::memcmp(bytes, magic, static_cast<size_t>(length)) == 0;
}

// Checks the values too, since files may be damaged or hostile.
arrow::Status open_stream(const void *bytes, int64_t count, struct ArrowArrayStream *out)
{
    auto buffer = std::make_shared<arrow::Buffer>(static_cast<const uint8_t *>(bytes), count);
    File file = std::make_shared<arrow::io::BufferReader>(buffer);
    auto read = begins(bytes, count, "PAR1")     ? read_parquet
                : begins(bytes, count, "ARROW1") ? read_arrow
                                                 : read_stream;
    ARROW_ASSIGN_OR_RAISE(Table table, read(file));
    ARROW_RETURN_NOT_OK(table->ValidateFull());
    return arrow::ExportRecordBatchReader(std::make_shared<arrow::TableBatchReader>(table), out);
}

// Exceptions of the libraries end here: the caller is C.
int open_file(const void *bytes, int64_t count, struct ArrowArrayStream *out, char *message,
              int64_t message_size)
{
    std::string reason;
    try {
        arrow::Status status = open_stream(bytes, count, out);
        if (status.ok())
            return 0;
        reason = status.message();
    } catch (const std::exception &error) {
        reason = error.what();
    } catch (...) {
        reason = "an unknown error";
    }
    std::snprintf(message, static_cast<size_t>(message_size), "%s", reason.c_str());
    return 1;
}

} // namespace

extern "C" __attribute__((visibility("default"))) const kfe_arrow_files_table *kfe_arrow_files(void)
{
    static const kfe_arrow_files_table table = {KFE_ARROW_FILES_ABI, sizeof(kfe_arrow_files_table), open_file};
    return &table;
}
