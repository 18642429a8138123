# SPDX-License-Identifier: Apache-2.0
# Two features of the iris data from Julia, through the functions of kfe.h:
#
#     KFE_LIBRARY=build/libkfe.so julia features.jl

const libkfe = get(ENV, "KFE_LIBRARY", "libkfe")

# As in kfe.h; the library fills and frees it.
mutable struct kfe_matrix
    rows::Int64
    cols::Int64
    stride::Int64
    values::Ptr{Cdouble}
    owner::Ptr{Cvoid}
end

"Throws the library's message unless the status is KFE_OK."
function check(context, status)
    status == 0 && return
    error(unsafe_string(@ccall libkfe.kfe_error_message(context::Ptr{Cvoid})::Cstring))
end

"The features of the iris data by a method, examples × features."
function features(context, method)
    data, spec, model = Ref(C_NULL), Ref(C_NULL), Ref(C_NULL)
    matrix = kfe_matrix(0, 0, 0, C_NULL, C_NULL)
    try
        check(context, @ccall libkfe.kfe_data_generate(context::Ptr{Cvoid}, "iris"::Cstring, C_NULL::Cstring, data::Ptr{Ptr{Cvoid}})::Cint)
        check(context, @ccall libkfe.kfe_spec_parse(context::Ptr{Cvoid}, method::Cstring, C_NULL::Cstring, "rbf:gamma=0.2"::Cstring, spec::Ptr{Ptr{Cvoid}})::Cint)
        check(context, @ccall libkfe.kfe_fit(context::Ptr{Cvoid}, spec[]::Ptr{Cvoid}, data[]::Ptr{Cvoid}, model::Ptr{Ptr{Cvoid}})::Cint)
        check(context, @ccall libkfe.kfe_transform(context::Ptr{Cvoid}, model[]::Ptr{Cvoid}, data[]::Ptr{Cvoid}, matrix::Ref{kfe_matrix})::Cint)
        # C stores rows, Julia columns
        return permutedims(unsafe_wrap(Array, matrix.values, (matrix.stride, matrix.rows))[1:matrix.cols, :])
    finally
        @ccall libkfe.kfe_matrix_free(matrix::Ref{kfe_matrix})::Cvoid
        @ccall libkfe.kfe_model_free(model[]::Ptr{Cvoid})::Cvoid
        @ccall libkfe.kfe_spec_free(spec[]::Ptr{Cvoid})::Cvoid
        @ccall libkfe.kfe_data_free(data[]::Ptr{Cvoid})::Cvoid
    end
end

context = Ref(C_NULL)
(@ccall libkfe.kfe_context_new(context::Ptr{Ptr{Cvoid}})::Cint) == 0 || error("out of memory")
found = features(context[], "kfd")
println(size(found, 1), " examples, ", size(found, 2), " features")
try
    features(context[], "no-such-method")
catch failure
    println("refused: ", failure.msg)
end
@ccall libkfe.kfe_context_free(context[]::Ptr{Cvoid})::Cvoid
