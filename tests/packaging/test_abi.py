# SPDX-License-Identifier: Apache-2.0
"""tools/check-abi finds what breaks programs, and what the rules of kfe.h forbid, in changed copies of the header."""
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADER = (ROOT / "include" / "kfe.h").read_text()
ENTRY = "    const char *alias;   /* kernels: another accepted name; NULL: none */\n"


def check(folder, header, *options):
    (folder / "kfe.h").write_text(header)
    return subprocess.run([ROOT / "tools" / "check-abi", "--record", folder / "abi.txt", *options, folder / "kfe.h"], capture_output=True,
                          text=True, timeout=60)


@pytest.fixture
def recorded(tmp_path):
    assert check(tmp_path, HEADER, "--renew").returncode == 0
    return tmp_path


def changed(before, after):
    assert HEADER.count(before) == 1, before
    return HEADER.replace(before, after)


def test_the_header_is_as_recorded(recorded):
    done = check(recorded, HEADER)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("before, after, says", [
    ("KFE_API kfe_status kfe_context_set_threads(kfe_context *ctx, int threads);", "", "function kfe_context_set_threads is gone"),
    ("kfe_context_set_threads(kfe_context *ctx, int threads)", "kfe_context_set_threads(kfe_context *ctx, int64_t threads)", "was"),
    ("enum kfe_number { KFE_F64, KFE_F32 }", "enum kfe_number { KFE_F32, KFE_F64 }", "enum kfe_number was"),
    ("    kfe_context *owner; /* frees values", "    int extra;\n    kfe_context *owner; /* frees values", "struct kfe_matrix was"),
    ("NULL for borrowed memory */\n", "NULL for borrowed memory */\n    int64_t extra;\n", "struct kfe_matrix was"),
    (ENTRY, "    int extra;\n" + ENTRY, "struct kfe_entry_info was"),
    ("typedef void (*kfe_log_fn)(void *user, kfe_level level,", "typedef void (*kfe_log_fn)(void *user, int level,", "callback kfe_log_fn was"),
    ("KFE_API void kfe_matrix_free", "KFE_API kfe_status kfe_new(const kfe_matrix *matrix);\nKFE_API void kfe_matrix_free", "kfe_new can fail"),
    ("KFE_API void kfe_matrix_free", "KFE_API void kfe_new(int a, int b, int c, int d, int e, int f, int g, int h);\nKFE_API void kfe_matrix_free",
     "kfe_new has 8 parameters"),
    ("KFE_API void kfe_matrix_free", "typedef struct kfe_box {\n    int a;\n} kfe_box;\nKFE_API void kfe_new(kfe_box *box);\nKFE_API void kfe_matrix_free",
     "callers make kfe_box"),
])
def test_what_breaks_programs_is_refused(recorded, before, after, says):
    done = check(recorded, changed(before, after))
    assert done.returncode == 1 and says in done.stderr, done.stderr


@pytest.mark.parametrize("before, after", [
    (ENTRY, ENTRY + "    int extra;\n"),
    ("enum kfe_number { KFE_F64, KFE_F32 }", "enum kfe_number { KFE_F64, KFE_F32, KFE_F16 }"),
    ("KFE_API void kfe_matrix_free", "KFE_API kfe_status kfe_new(kfe_context *ctx);\nKFE_API void kfe_matrix_free"),
    ("kfe_context_set_threads(kfe_context *ctx, int threads)", "kfe_context_set_threads(kfe_context *ctx, int number)"),
])
def test_what_programs_do_not_notice_is_accepted(recorded, before, after):
    done = check(recorded, changed(before, after))
    assert done.returncode == 0, done.stderr
