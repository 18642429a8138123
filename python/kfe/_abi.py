# SPDX-License-Identifier: Apache-2.0
"""The structures and functions of kfe.h for ctypes. This is the only place that knows their layout: the package,
the documentation, the tests and the benchmarks read it. It imports nothing but ctypes."""
from ctypes import (CFUNCTYPE, POINTER, Structure, c_char, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint, c_uint64,
                    c_void_p, sizeof)


class Matrix(Structure):
    _fields_ = [("rows", c_int64), ("cols", c_int64), ("stride", c_int64), ("values", c_void_p),
                ("owner", c_void_p)]


class ParamInfo(Structure):
    _fields_ = [("name", c_char_p), ("type", c_int), ("initial", c_char_p), ("min", c_double), ("max", c_double),
                ("words", c_char_p), ("help", c_char_p), ("alias", c_char_p)]


class EntryInfo(Structure):
    _fields_ = [("name", c_char_p), ("summary", c_char_p), ("formula", c_char_p), ("flags", c_uint), ("alias", c_char_p)]


class PartInfo(Structure):
    _fields_ = [("view", c_int), ("cols", c_int64), ("dim", c_int64), ("mapped", c_int), ("projection", c_void_p),
                ("gating", c_void_p)]


class DeviceEntry(Structure):
    _fields_ = [("name", c_char * 32), ("description", c_char * 256), ("usable", c_int), ("memory", c_int64),
                ("free_memory", c_int64)]


class Judged(Structure):
    """Predictions beside the truth, for metrics."""

    _fields_ = [("size", c_size_t), ("rows", c_int64), ("classes", c_int64), ("positive", c_int64), ("truth", c_void_p),
                ("predicted", c_void_p), ("scores", c_void_p), ("cols", c_int64), ("true_values", c_void_p),
                ("predicted_values", c_void_p), ("weights", c_void_p)]

    def __init__(self, **members):
        super().__init__(size=sizeof(Judged), **members)


class Table(Structure):
    _fields_ = [("name", c_char_p), ("about", c_char_p), ("rows", c_int64), ("cols", c_int64), ("parent", c_int),
                ("parent_row", c_void_p), ("is_list", c_int)]


class Column(Structure):
    _fields_ = [("name", c_char_p), ("about", c_char_p), ("unit", c_char_p), ("kind", c_int), ("numbers", c_void_p),
                ("texts", c_void_p), ("given", c_void_p)]


class DeflationState(Structure):
    """The state that a direction rule sees."""


TIMES_FN = CFUNCTYPE(c_int, c_void_p, c_void_p, c_int64, c_void_p)
DeflationState._fields_ = [("examples", c_int64), ("targets", c_int64), ("iteration", c_int64),
                           ("residual", c_void_p), ("features", c_void_p), ("times", TIMES_FN), ("handle", c_void_p)]

LOG_FN = CFUNCTYPE(None, c_void_p, c_int, c_char_p)
PROGRESS_FN = CFUNCTYPE(None, c_void_p, c_char_p, c_int64, c_int64)
CANCEL_FN = CFUNCTYPE(c_int, c_void_p)
KERNEL_FN = CFUNCTYPE(c_double, c_void_p, c_void_p, c_void_p, c_int64)
RULE_FN = CFUNCTYPE(c_int, c_void_p, POINTER(DeflationState), c_void_p)

OUT = POINTER(c_void_p)
MATRIX = POINTER(Matrix)
PARAM = POINTER(ParamInfo)
COUNT = POINTER(c_int64)
TABLE = (POINTER(EntryInfo), c_int)
PARAMS = (PARAM, c_int, c_int)
OPTIONS = (PARAM, c_int)

# name: (result, arguments...). Strings that the caller frees are void pointers, because c_char_p would copy the text
# and
# lose the address.
PROTOTYPES = {
    "kfe_version": (c_char_p,),
    "kfe_figure": TABLE,
    "kfe_report_new": (c_int, c_void_p, c_char_p, OUT),
    "kfe_report_set_model": (c_int, c_void_p, c_void_p, c_void_p),
    "kfe_report_set_data": (c_int, c_void_p, c_void_p, c_void_p, c_void_p),
    "kfe_report_set_results": (c_int, c_void_p, c_void_p, c_void_p),
    "kfe_report_add_fact": (c_int, c_void_p, c_void_p, c_char_p, c_char_p),
    "kfe_report_figure": (c_int, c_void_p, c_void_p, c_char_p, c_char_p, OUT),
    "kfe_report_html": (c_int, c_void_p, c_void_p, OUT),
    "kfe_report_free": (None, c_void_p),
    "kfe_context_new": (c_int, OUT),
    "kfe_context_free": (None, c_void_p),
    "kfe_context_set_threads": (c_int, c_void_p, c_int),
    "kfe_let_threads_sleep": (None,),
    "kfe_context_set_wording": (c_int, c_void_p, c_int),
    "kfe_context_set_seed": (None, c_void_p, c_uint64),
    "kfe_context_set_memory": (c_int, c_void_p, c_int64),
    "kfe_context_set_device": (c_int, c_void_p, c_char_p),
    "kfe_context_set_checkpoint": (c_int, c_void_p, c_char_p, c_double, c_int),
    "kfe_context_set_cluster": (c_int, c_void_p, c_void_p),
    "kfe_context_process": (c_int, c_void_p),
    "kfe_context_processes": (c_int, c_void_p),
    "kfe_launched_processes": (c_int,),
    "kfe_blas_advice": (c_char_p,),
    "kfe_context_agree": (c_int, c_void_p, c_int),
    "kfe_devices": (c_int, c_void_p, OUT),
    "kfe_device_list_entry": (POINTER(DeviceEntry), c_void_p, c_int),
    "kfe_device_list_free": (None, c_void_p),
    "kfe_context_on_log": (None, c_void_p, LOG_FN, c_void_p),
    "kfe_context_on_progress": (None, c_void_p, PROGRESS_FN, c_void_p),
    "kfe_context_on_cancel": (None, c_void_p, CANCEL_FN, c_void_p),
    "kfe_error_message": (c_char_p, c_void_p),
    "kfe_matrix_free": (None, MATRIX),
    "kfe_data_read": (c_int, c_void_p, c_char_p, c_char_p, OUT),
    "kfe_data_read_for_model": (c_int, c_void_p, c_void_p, c_int, POINTER(c_char_p), POINTER(c_char_p), c_char_p, OUT),
    "kfe_data_wrap_dense": (c_int, c_void_p, c_int64, c_int64, c_int64, c_void_p, OUT),
    "kfe_data_wrap_csr": (c_int, c_void_p, c_int64, c_int64, c_void_p, c_void_p, c_void_p, OUT),
    "kfe_data_from_text": (c_int, c_void_p, c_int64, c_void_p, OUT),
    "kfe_data_from_arrow_stream": (c_int, c_void_p, c_void_p, c_char_p, OUT),
    "kfe_data_generate": (c_int, c_void_p, c_char_p, c_char_p, OUT),
    "kfe_data_free": (None, c_void_p),
    "kfe_data_set_labels": (c_int, c_void_p, c_void_p, c_void_p),
    "kfe_data_set_targets": (c_int, c_void_p, c_void_p, c_int64, c_void_p),
    "kfe_data_set_column_names": (c_int, c_void_p, c_void_p, c_int, c_void_p),
    "kfe_data_set_missing": (c_int, c_void_p, c_void_p, c_char_p),
    "kfe_data_rows": (c_int64, c_void_p),
    "kfe_data_cols": (c_int64, c_void_p, c_int),
    "kfe_data_is_sparse": (c_int, c_void_p, c_int),
    "kfe_data_csr_row_start": (c_void_p, c_void_p, c_int),
    "kfe_data_csr_columns": (c_void_p, c_void_p, c_int),
    "kfe_data_csr_values": (c_void_p, c_void_p, c_int),
    "kfe_data_task": (c_int, c_void_p),
    "kfe_data_classes": (c_int64, c_void_p),
    "kfe_data_class_name": (c_char_p, c_void_p, c_int64),
    "kfe_data_class_of": (c_int64, c_void_p, c_int64),
    "kfe_data_column_name": (c_char_p, c_void_p, c_int, c_int64),
    "kfe_data_targets": (c_void_p, c_void_p, COUNT),
    "kfe_data_row": (c_int, c_void_p, c_void_p, c_int, c_int64, c_void_p),
    "kfe_generator": TABLE,
    "kfe_kernel": TABLE,
    "kfe_method": TABLE,
    "kfe_learner": TABLE,
    "kfe_step": TABLE,
    "kfe_generator_param": PARAMS,
    "kfe_kernel_param": PARAMS,
    "kfe_method_kernel": (c_char_p, c_int),
    "kfe_method_param": PARAMS,
    "kfe_learner_param": PARAMS,
    "kfe_step_param": PARAMS,
    "kfe_fit_option": OPTIONS,
    "kfe_cv_option": OPTIONS,
    "kfe_compare_option": OPTIONS,
    "kfe_evaluate_option": OPTIONS,
    "kfe_tune_option": OPTIONS,
    "kfe_kernel_matrix": (c_int, c_void_p, c_char_p, c_void_p, c_void_p, MATRIX),
    "kfe_spec_parse": (c_int, c_void_p, c_char_p, c_char_p, c_char_p, OUT),
    "kfe_spec_set_learner": (c_int, c_void_p, c_void_p, c_char_p, c_char_p),
    "kfe_spec_set": (c_int, c_void_p, c_void_p, c_char_p, c_char_p),
    "kfe_spec_add_kernel": (c_int, c_void_p, c_void_p, c_char_p),
    "kfe_spec_add_user_kernel": (c_int, c_void_p, c_void_p, c_char_p, KERNEL_FN, c_void_p),
    "kfe_spec_new_rule": (c_int, c_void_p, c_char_p, RULE_FN, c_void_p, c_char_p, c_char_p, OUT),
    "kfe_spec_check": (c_int, c_void_p, c_void_p, c_void_p, POINTER(c_int)),
    "kfe_spec_predicts": (c_int, c_void_p),
    "kfe_spec_free": (None, c_void_p),
    "kfe_fit": (c_int, c_void_p, c_void_p, c_void_p, OUT),
    "kfe_model_free": (None, c_void_p),
    "kfe_spec_accumulates": (c_int, c_void_p),
    "kfe_accumulator_new": (c_int, c_void_p, c_void_p, OUT),
    "kfe_accumulator_start": (c_int, c_void_p, c_void_p, c_void_p),
    "kfe_accumulator_add": (c_int, c_void_p, c_void_p, c_void_p),
    "kfe_accumulator_merge": (c_int, c_void_p, c_void_p, c_void_p),
    "kfe_accumulator_finish": (c_int, c_void_p, c_void_p, OUT),
    "kfe_accumulator_rows": (c_int64, c_void_p),
    "kfe_accumulator_save_bytes": (c_int, c_void_p, c_void_p, OUT, POINTER(c_size_t)),
    "kfe_accumulator_load_bytes": (c_int, c_void_p, c_char_p, c_size_t, OUT),
    "kfe_accumulator_free": (None, c_void_p),
    "kfe_transform": (c_int, c_void_p, c_void_p, c_void_p, MATRIX),
    "kfe_predict": (c_int, c_void_p, c_void_p, c_void_p, MATRIX, MATRIX),
    "kfe_class_scores": (c_int, c_void_p, c_void_p, MATRIX, MATRIX),
    "kfe_model_bind_kernel": (c_int, c_void_p, c_void_p, c_char_p, KERNEL_FN, c_void_p),
    "kfe_model_save": (c_int, c_void_p, c_void_p, c_char_p),
    "kfe_model_save_bytes": (c_int, c_void_p, c_void_p, OUT, POINTER(c_size_t)),
    "kfe_model_export_onnx": (c_int, c_void_p, c_void_p, c_char_p, c_char_p),
    "kfe_model_export_onnx_bytes": (c_int, c_void_p, c_void_p, c_char_p, OUT, POINTER(c_size_t)),
    "kfe_model_load": (c_int, c_void_p, c_char_p, OUT),
    "kfe_model_load_bytes": (c_int, c_void_p, c_char_p, c_size_t, OUT),
    "kfe_model_method": (c_char_p, c_void_p),
    "kfe_model_plain_learner": (c_char_p, c_void_p),
    "kfe_model_learner": (c_char_p, c_void_p),
    "kfe_model_outputs": (c_int64, c_void_p),
    "kfe_model_task": (c_int, c_void_p),
    "kfe_model_dim": (c_int64, c_void_p),
    "kfe_model_support_size": (c_int64, c_void_p),
    "kfe_model_views": (c_int, c_void_p),
    "kfe_model_cols": (c_int64, c_void_p, c_int),
    "kfe_model_source_cols": (c_int64, c_void_p, c_int),
    "kfe_model_prepare": (c_int, c_void_p, c_void_p, c_int, OUT),
    "kfe_model_prepared_cols": (c_int64, c_void_p, c_int),
    "kfe_model_prepared_name": (c_char_p, c_void_p, c_int, c_int64),
    "kfe_model_shift": (c_void_p, c_void_p, c_int),
    "kfe_model_factor": (c_void_p, c_void_p, c_int),
    "kfe_model_takes_strings": (c_int, c_void_p, c_int),
    "kfe_model_classes": (c_int64, c_void_p),
    "kfe_model_class_name": (c_char_p, c_void_p, c_int64),
    "kfe_model_column_name": (c_char_p, c_void_p, c_int, c_int64),
    "kfe_model_feature_name": (c_int, c_void_p, c_void_p, c_int64, OUT),
    "kfe_model_set_column_names": (c_int, c_void_p, c_void_p, c_int, c_void_p),
    "kfe_model_coefficients": (c_void_p, c_void_p, COUNT),
    "kfe_model_offset": (c_void_p, c_void_p),
    "kfe_model_support_index": (c_void_p, c_void_p),
    "kfe_model_part": (POINTER(PartInfo), c_void_p, c_int),
    "kfe_model_gate_weights": (c_void_p, c_void_p, COUNT),
    "kfe_model_gate_offset": (c_void_p, c_void_p),
    "kfe_model_record": (c_void_p, c_void_p, c_char_p, COUNT),
    "kfe_model_record_name": (c_char_p, c_void_p, c_int64),
    "kfe_model_describe": (c_int, c_void_p, c_void_p, c_int, OUT),
    "kfe_measure": (c_int, c_void_p, c_void_p, c_int, POINTER(c_char_p), c_char_p, OUT),
    "kfe_evaluate": (c_int, c_void_p, c_void_p, c_void_p, c_char_p, OUT),
    "kfe_cross_validate": (c_int, c_void_p, c_void_p, POINTER(c_char_p), c_void_p, c_char_p, OUT, OUT),
    "kfe_compare": (c_int, c_void_p, c_int, OUT, POINTER(c_char_p), c_void_p, c_char_p, OUT),
    "kfe_result_free": (None, c_void_p),
    "kfe_result_table": (POINTER(Table), c_void_p, c_int),
    "kfe_table_column": (POINTER(Column), POINTER(Table), c_int64),
    "kfe_result_parse": (c_int, c_void_p, c_char_p, OUT),
    "kfe_result_describe": (c_int, c_void_p, c_void_p, c_int, OUT),
    "kfe_data_divide": (c_int, c_void_p, c_void_p, c_int, POINTER(c_char_p), POINTER(c_char_p)),
    "kfe_data_encode": (c_int, c_void_p, c_void_p, c_int64, c_void_p, c_void_p),
    "kfe_data_encode_for_model": (c_int, c_void_p, c_void_p, c_void_p, c_int64, c_void_p, c_void_p),
    "kfe_data_set_groups": (c_int, c_void_p, c_void_p, c_void_p),
    "kfe_data_set_weights": (c_int, c_void_p, c_void_p, c_void_p),
    "kfe_data_add_split": (c_int, c_void_p, c_void_p, c_int64, c_void_p, c_int64, c_void_p),
    "kfe_tune": (c_int, c_void_p, c_void_p, c_char_p, OUT, OUT),
    "kfe_escape": (c_size_t, c_char_p, c_void_p, c_size_t),
    "kfe_string_free": (None, c_void_p, c_void_p),
    "kfe_guess_task": (c_int, c_void_p, c_int64, c_void_p, c_int),
    "kfe_predict_probabilities": (c_int, c_void_p, c_void_p, c_void_p, MATRIX, MATRIX),
    "kfe_predict_intervals": (c_int, c_void_p, c_void_p, c_void_p, c_double, MATRIX, MATRIX),
    "kfe_model_calibration": (c_char_p, c_void_p),
    "kfe_predict_path": (c_int, c_void_p, c_void_p, c_void_p, MATRIX),
    "kfe_inverse_transform": (c_int, c_void_p, c_void_p, MATRIX, MATRIX),
    "kfe_explain": (c_int, c_void_p, c_void_p, c_void_p, c_char_p, OUT),
    "kfe_explain_refit": (c_int, c_void_p, c_void_p, c_void_p, c_void_p, c_char_p, OUT),
    "kfe_transfer": (c_int, c_void_p, c_void_p, c_char_p, c_void_p, c_void_p, c_void_p, OUT),
    "kfe_explain_option": OPTIONS,
    "kfe_metric": TABLE,
    "kfe_metric_compute": (c_int, c_void_p, c_char_p, POINTER(Judged), POINTER(c_double)),
    "kfe_paired_test": (c_int, c_void_p, c_int64, c_void_p, c_void_p, c_double, POINTER(c_double), POINTER(c_double)),
    "kfe_splits_make": (c_int, c_void_p, c_void_p, c_char_p, OUT),
    "kfe_splits_count": (c_int64, c_void_p),
    "kfe_splits_train": (c_void_p, c_void_p, c_int64, COUNT),
    "kfe_splits_test": (c_void_p, c_void_p, c_int64, COUNT),
    "kfe_splits_free": (None, c_void_p),
}
# functions of newer libraries; calls that need them say so
OPTIONAL = {
    "kfe_data_wrap_dense_f32": (c_int, c_void_p, c_int64, c_int64, c_int64, c_void_p, OUT),
    "kfe_data_join_views": (c_int, c_void_p, c_int, OUT, POINTER(c_char_p), OUT),
    "kfe_spec_set_view_kernel": (c_int, c_void_p, c_void_p, c_char_p, c_char_p),
}


def declare(library, prototypes=PROTOTYPES) -> None:
    """Declares the types of a loaded library's functions; AttributeError if a function is missing."""
    for name, (result, *arguments) in prototypes.items():
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments
