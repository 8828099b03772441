// SPDX-License-Identifier: Apache-2.0
// Python's values as the library's: tensors by the buffer protocol, kernel arguments, options.
#pragma once

#include <pybind11/pybind11.h>

#include "workloads/api/lockstep.h"

namespace lockstep::python {

/// A buffer (a numpy array, an array.array, a memoryview) as a tensor; bytes are in C order. Throws
/// TypeError where its elements are of no type that networks have.
api::Tensor tensor_from(const pybind11::buffer& buffer);
/// The tensor's own memory as a buffer.
pybind11::buffer_info buffer_of(api::Tensor& tensor);

/// An int, a float or bytes, for a kernel's parameter of so many bytes. Throws TypeError.
api::Argument argument_from(const pybind11::handle& value, std::uint32_t bytes);

/// 3, (3,), (3, 4), (3, 4, 5)
api::Dim3 dim3_from(const pybind11::handle& value);

/// mode="emulate", threads=4, ...: the names of RunOptions. Throws TypeError on others.
api::RunOptions options_from(const pybind11::kwargs& given);
api::Mode mode_from(const std::string& name);

}  // namespace lockstep::python
