/* SPDX-License-Identifier: Apache-2.0 */
/* The table that the library finds in this plug-in (src/plugin/device.h). */
#include "internal.cuh"

extern "C" __attribute__((visibility("default"))) const kfe_device_table *kfe_device_plugin(void)
{
    static const kfe_device_table table = {
        KFE_DEVICE_ABI,
        sizeof(kfe_device_table),
        "cuda",
        kfe_cuda_count,
        kfe_cuda_open,
        kfe_cuda_close,
        kfe_cuda_info,
        kfe_cuda_message,
        kfe_cuda_set_watch,
        kfe_cuda_allocate,
        kfe_cuda_release,
        kfe_cuda_upload,
        kfe_cuda_download,
        kfe_cuda_copy,
        kfe_cuda_fill,
        kfe_cuda_gather,
        kfe_cuda_wait,
        kfe_cuda_points_new,
        kfe_cuda_points_gather,
        kfe_cuda_points_free,
        kfe_cuda_block,
        kfe_cuda_map,
        kfe_cuda_times,
        kfe_cuda_group_sums,
        kfe_cuda_stream,
        kfe_cuda_linear_svms,
        kfe_cuda_nearest,
        kfe_cuda_gemm_any,
        kfe_cuda_add,
        kfe_cuda_shift,
        kfe_cuda_scale,
        kfe_cuda_column_dots,
        kfe_cuda_row_dots,
        kfe_cuda_potrf_bytes,
        kfe_cuda_syevd_bytes,
        kfe_cuda_potrf,
        kfe_cuda_potrs,
        kfe_cuda_trsm,
        kfe_cuda_syevd,
    };

    return &table;
}
