// SPDX-License-Identifier: Apache-2.0
// TensorProto as a tensor.
#pragma once

#include <filesystem>

#include "workloads/network/graph/onnx_type.h"
#include "workloads/network/graph/tensor.h"

namespace lockstep_onnx {
class TensorProto;
}

namespace lockstep::network::onnx {

/// The values, from raw_data, the typed fields or an external file in `folder`. InputError.
Tensor read_tensor(const lockstep_onnx::TensorProto& proto, const std::filesystem::path& folder);

}  // namespace lockstep::network::onnx
