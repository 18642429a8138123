// SPDX-License-Identifier: Apache-2.0
/*
 * Use kfe from C++17: objects that free themselves, exceptions instead of status codes, vectors instead of pointers.
 * Header only: link the C library. For everything else, call kfe.h with the pointers that get() returns.
 *
 *     kfe::Context context;
 *     auto train = kfe::Data::read(context, "train.csv");
 *     auto model = kfe::Spec(context, "koc", "", "rbf:gamma=0.2").learner("svm").fit(train);
 *     kfe::Matrix features = model.transform(kfe::Data::read(context, "new.csv", "label=none"));
 *
 * Only one thread at a time may use a Context, which must outlive the objects made with it. Threads with a Context
 * each may share a Model.
 */
#ifndef KFE_HPP
#define KFE_HPP

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "kfe.h"

namespace kfe {

/* Thrown when a call of the library fails. */
class Error : public std::runtime_error {
public:
    Error(kfe_status status, const std::string &message) : std::runtime_error(message), status_(status) {}
    kfe_status status() const noexcept { return status_; }

private:
    kfe_status status_;
};

/* Threads, seed, memory limit and device of calls. */
class Context {
public:
    Context()
    {
        kfe_context *made = nullptr;
        if (kfe_context_new(&made) != KFE_OK)
            throw std::bad_alloc();
        pointer_.reset(made, kfe_context_free);
    }

    /* The C object, for functions of kfe.h. */
    kfe_context *get() const noexcept { return pointer_.get(); }
    /* Throws the context's message unless the status is KFE_OK. */
    void check(kfe_status status) const
    {
        if (status != KFE_OK)
            throw Error(status, kfe_error_message(get()));
    }

    Context &threads(int count)
    {
        check(kfe_context_set_threads(get(), count));
        return *this;
    }
    Context &seed(std::uint64_t value)
    {
        kfe_context_set_seed(get(), value);
        return *this;
    }
    Context &memory(std::int64_t bytes)
    {
        check(kfe_context_set_memory(get(), bytes));
        return *this;
    }
    Context &device(const std::string &name)
    {
        check(kfe_context_set_device(get(), name.c_str()));
        return *this;
    }

private:
    std::shared_ptr<kfe_context> pointer_; /* objects keep the context that frees them */
};

/* A matrix of numbers, row-major. */
struct Matrix {
    std::int64_t rows = 0, cols = 0;
    std::vector<double> values;

    double operator()(std::int64_t row, std::int64_t col) const
    {
        return values.at(static_cast<std::size_t>(row * cols + col));
    }
};

namespace detail {

inline const char *or_null(const std::string &text)
{
    return text.empty() ? nullptr : text.c_str();
}

/* Copies a kfe_matrix and frees the original. */
inline Matrix take(kfe_matrix &from)
{
    Matrix out{from.rows, from.cols, {}};
    out.values.reserve(static_cast<std::size_t>(from.rows * from.cols));
    for (std::int64_t i = 0; i < from.rows; i++)
        out.values.insert(out.values.end(), from.values + i * from.stride,
                          from.values + i * from.stride + from.cols);
    kfe_matrix_free(&from);
    return out;
}

/* Copies a string that the library returned, and frees the original. */
inline std::string take(const Context &context, char *from, std::size_t size)
{
    std::string out(from, size);
    kfe_string_free(context.get(), from);
    return out;
}

} // namespace detail

/* Examples with their labels or targets. */
class Data {
public:
    static Data read(const Context &context, const std::string &path, const std::string &options = "")
    {
        kfe_data *made = nullptr;
        context.check(kfe_data_read(context.get(), path.c_str(), detail::or_null(options), &made));
        return Data(context, made);
    }
    static Data generate(const Context &context, const std::string &name, const std::string &options = "")
    {
        kfe_data *made = nullptr;
        context.check(kfe_data_generate(context.get(), name.c_str(), detail::or_null(options), &made));
        return Data(context, made);
    }
    /* Borrows rows × cols numbers, which must outlive the Data. */
    static Data wrap(const Context &context, std::int64_t rows, std::int64_t cols, const double *values)
    {
        kfe_data *made = nullptr;
        context.check(kfe_data_wrap_dense(context.get(), rows, cols, cols, values, &made));
        return Data(context, made);
    }

    Data &labels(const std::vector<std::string> &names)
    {
        std::vector<const char *> texts;
        check_rows(names.size());
        for (const std::string &name : names)
            texts.push_back(name.c_str());
        context_.check(kfe_data_set_labels(context_.get(), get(), texts.data()));
        return *this;
    }
    /* rows × cols real values. */
    Data &targets(const std::vector<double> &values, std::int64_t cols = 1)
    {
        if (cols < 1)
            throw std::invalid_argument("there must be a column of targets");
        check_rows(values.size() / static_cast<std::size_t>(cols));
        context_.check(kfe_data_set_targets(context_.get(), get(), cols, values.data()));
        return *this;
    }

    std::int64_t rows() const noexcept { return kfe_data_rows(get()); }
    std::int64_t cols(int view = 0) const noexcept { return kfe_data_cols(get(), view); }
    kfe_data *get() const noexcept { return pointer_.get(); }

private:
    Data(const Context &context, kfe_data *made) : context_(context), pointer_(made) {}
    void check_rows(std::size_t count) const
    {
        if (static_cast<std::int64_t>(count) != rows())
            throw std::invalid_argument("there must be one label or target per row");
    }
    struct Free {
        void operator()(kfe_data *data) const noexcept { kfe_data_free(data); }
    };

    Context context_;
    std::unique_ptr<kfe_data, Free> pointer_;
};

/* Predicted class names or values. */
struct Predictions {
    std::vector<std::string> labels; /* empty for real targets */
    Matrix values;                   /* class numbers, or values */
    Matrix scores;                   /* decision values */
};

/* A fitted model. */
class Model {
public:
    static Model load(const Context &context, const std::string &path)
    {
        kfe_model *made = nullptr;
        context.check(kfe_model_load(context.get(), path.c_str(), &made));
        return Model(context, made);
    }
    static Model from_bytes(const Context &context, const std::string &bytes)
    {
        kfe_model *made = nullptr;
        context.check(kfe_model_load_bytes(context.get(), bytes.data(), bytes.size(), &made));
        return Model(context, made);
    }

    void save(const std::string &path) const { context_.check(kfe_model_save(context_.get(), get(), path.c_str())); }
    std::string bytes() const
    {
        char *out = nullptr;
        std::size_t size = 0;
        context_.check(kfe_model_save_bytes(context_.get(), get(), &out, &size));
        return detail::take(context_, out, size);
    }
    /* precision: "float" or "double". */
    void export_onnx(const std::string &path, const std::string &precision = "float") const
    {
        const std::string options = "precision=" + precision;
        context_.check(kfe_model_export_onnx(context_.get(), get(), options.c_str(), path.c_str()));
    }

    Matrix transform(const Data &data) const { return transform(context_, data); }
    Predictions predict(const Data &data) const { return predict(context_, data); }
    /* With the context of the calling thread. */
    Matrix transform(const Context &context, const Data &data) const
    {
        kfe_matrix features{};
        context.check(kfe_transform(context.get(), get(), data.get(), &features));
        return detail::take(features);
    }
    Predictions predict(const Context &context, const Data &data) const
    {
        kfe_matrix values{};
        kfe_matrix scores{};
        Predictions out;
        context.check(kfe_predict(context.get(), get(), data.get(), &values, &scores));
        out.values = detail::take(values);
        out.scores = detail::take(scores);
        for (std::int64_t i = 0; kfe_model_task(get()) == KFE_TASK_CLASSES && i < out.values.rows; i++)
            out.labels.emplace_back(
                kfe_model_class_name(get(), static_cast<std::int64_t>(out.values(i, 0))));
        return out;
    }

    std::int64_t dim() const noexcept { return kfe_model_dim(get()); }
    kfe_model *get() const noexcept { return pointer_.get(); }

private:
    friend class Spec;
    Model(const Context &context, kfe_model *made) : context_(context), pointer_(made) {}
    struct Free {
        void operator()(kfe_model *model) const noexcept { kfe_model_free(model); }
    };

    Context context_;
    std::unique_ptr<kfe_model, Free> pointer_;
};

/* A method with its kernels, settings and learner. */
class Spec {
public:
    /* Empty strings mean the defaults. */
    Spec(const Context &context, const std::string &method, const std::string &params = "",
         const std::string &kernel = "")
        : context_(context)
    {
        kfe_spec *made = nullptr;
        context.check(kfe_spec_parse(context.get(), method.c_str(), detail::or_null(params),
                                     detail::or_null(kernel), &made));
        pointer_.reset(made);
    }

    Spec &learner(const std::string &name, const std::string &params = "")
    {
        context_.check(kfe_spec_set_learner(context_.get(), get(), name.c_str(), detail::or_null(params)));
        return *this;
    }
    Spec &set(const std::string &name, const std::string &value)
    {
        context_.check(kfe_spec_set(context_.get(), get(), name.c_str(), value.c_str()));
        return *this;
    }
    Spec &add_kernel(const std::string &kernel)
    {
        context_.check(kfe_spec_add_kernel(context_.get(), get(), kernel.c_str()));
        return *this;
    }

    Model fit(const Data &data) const
    {
        kfe_model *made = nullptr;
        context_.check(kfe_fit(context_.get(), get(), data.get(), &made));
        return Model(context_, made);
    }

    kfe_spec *get() const noexcept { return pointer_.get(); }

private:
    struct Free {
        void operator()(kfe_spec *spec) const noexcept { kfe_spec_free(spec); }
    };

    Context context_;
    std::unique_ptr<kfe_spec, Free> pointer_;
};

} // namespace kfe

#endif
