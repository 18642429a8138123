// SPDX-License-Identifier: Apache-2.0
//! Two features of the iris data from Rust, through bindings that bindgen makes from kfe.h:
//!
//!     bindgen include/kfe.h -o kfe.rs --allowlist-function 'kfe_.*' --allowlist-type 'kfe_.*'
//!     rustc --edition 2021 features.rs -l dylib=kfe
#![allow(non_camel_case_types, non_snake_case, non_upper_case_globals, dead_code)]
include!("kfe.rs");

use std::ffi::{CStr, CString};
use std::ptr;

/// A context, which is freed at the end of its scope.
struct Context(*mut kfe_context);

impl Context {
    fn new() -> Context {
        let mut context = ptr::null_mut();
        assert!(unsafe { kfe_context_new(&mut context) } == 0, "out of memory");
        Context(context)
    }

    /// A status as a Result, with the library's message.
    fn check(&self, status: kfe_status) -> Result<(), String> {
        if status == 0 {
            return Ok(());
        }
        Err(unsafe { CStr::from_ptr(kfe_error_message(self.0)) }.to_string_lossy().into_owned())
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        unsafe { kfe_context_free(self.0) }
    }
}

fn features(context: &Context, method: &str) -> Result<(i64, i64), String> {
    let (name, generator) = (CString::new(method).unwrap(), CString::new("iris").unwrap());
    let kernel = CString::new("rbf:gamma=0.2").unwrap();
    let (mut spec, mut data, mut model) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
    let mut matrix: kfe_matrix = unsafe { std::mem::zeroed() };
    unsafe {
        let result = context
            .check(kfe_data_generate(context.0, generator.as_ptr(), ptr::null(), &mut data))
            .and_then(|_| {
                context.check(kfe_spec_parse(context.0, name.as_ptr(), ptr::null(), kernel.as_ptr(), &mut spec))
            })
            .and_then(|_| context.check(kfe_fit(context.0, spec, data, &mut model)))
            .and_then(|_| context.check(kfe_transform(context.0, model, data, &mut matrix)))
            .map(|_| (matrix.rows, matrix.cols));
        kfe_matrix_free(&mut matrix);
        kfe_model_free(model);
        kfe_spec_free(spec);
        kfe_data_free(data);
        result
    }
}

fn main() {
    let context = Context::new();
    match features(&context, "kfd") {
        Ok((rows, columns)) => println!("{} examples, {} features", rows, columns),
        Err(message) => panic!("{}", message),
    }
    match features(&context, "no-such-method") {
        Ok(_) => panic!("a method that does not exist was found"),
        Err(message) => println!("refused: {}", message),
    }
}
