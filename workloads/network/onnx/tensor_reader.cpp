// SPDX-License-Identifier: Apache-2.0
// Values stand in one of three places: raw_data (little-endian bytes), a field of their type, or
// another file, given by a path relative to the model's folder. That path comes from the file, so
// it may not lead out of the folder, not through a symbolic link either. Source: ONNX,
// docs/ExternalData.md.
#include "workloads/network/onnx/tensor_reader.h"

#include <onnx.pb.h>

#include <algorithm>
#include <charconv>
#include <fstream>

#include "sim/error/error.h"

namespace lockstep::network::onnx {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(const lockstep_onnx::TensorProto& proto, const std::string& reason) {
    throw InputError(fmt::format("tensor {}: {}", proto.name(), reason));
}

std::uint64_t number(const lockstep_onnx::TensorProto& proto, const std::string& text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
        fail(proto, fmt::format("external data: {} is no number", text));
    return value;
}

fs::path path_inside(const lockstep_onnx::TensorProto& proto, const fs::path& folder,
                     const std::string& location) {
    const fs::path relative = fs::path(location).lexically_normal();
    if (location.empty() || location.find('\0') != std::string::npos || relative.is_absolute() ||
        *relative.begin() == "..")
        fail(proto, fmt::format("external data: {} leads out of the model's folder", location));
    std::error_code error;
    const fs::path root = fs::canonical(folder, error);
    const fs::path path = fs::canonical(root / relative, error);
    if (error || !fs::is_regular_file(path))
        fail(proto, fmt::format("external data: no file {}", (folder / relative).string()));
    const fs::path inside = path.lexically_relative(root);
    if (inside.empty() || *inside.begin() == "..")
        fail(proto, fmt::format("external data: {} leads out of the model's folder", location));
    return path;
}

void read_external(const lockstep_onnx::TensorProto& proto, const fs::path& folder, Tensor& tensor,
                   std::size_t bytes) {
    if (folder.empty()) fail(proto, "external data without a folder");
    std::string location;
    std::uint64_t offset = 0, length = bytes;
    for (const auto& entry : proto.external_data()) {
        if (entry.key() == "location") location = entry.value();
        if (entry.key() == "offset") offset = number(proto, entry.value());
        if (entry.key() == "length") length = number(proto, entry.value());
    }
    const fs::path path = path_inside(proto, folder, location);
    if (length != bytes)
        fail(proto, fmt::format("{} bytes of external data, not {}", length, bytes));
    const std::uint64_t size = fs::file_size(path);
    if (offset > size || bytes > size - offset)
        fail(proto, fmt::format("{}: {} bytes at {} are beyond the end ({})", path.string(), bytes,
                                offset, size));
    tensor.bytes.resize(bytes);
    std::ifstream file(path, std::ios::binary);
    file.seekg(static_cast<std::streamoff>(offset));
    if (!file.read(reinterpret_cast<char*>(tensor.bytes.data()),
                   static_cast<std::streamsize>(bytes)))
        fail(proto, fmt::format("{}: cannot be read", path.string()));
}

/// int32_data holds the small integers, bools and the bits of the 16-bit floats.
void read_int32_data(const lockstep_onnx::TensorProto& proto, Tensor& tensor) {
    const std::size_t size = size_of(tensor.type);
    for (int i = 0; i < proto.int32_data_size(); ++i) {
        const std::int32_t value = proto.int32_data(i);
        std::memcpy(tensor.bytes.data() + static_cast<std::size_t>(i) * size, &value, size);
    }
}

}  // namespace

Tensor read_tensor(const lockstep_onnx::TensorProto& proto, const fs::path& folder) {
    Tensor tensor;
    const std::optional<ElementType> type = onnx_element_type(proto.data_type());
    if (!type) fail(proto, fmt::format("element type {} is not supported", proto.data_type()));
    tensor.type = *type;
    tensor.shape.assign(proto.dims().begin(), proto.dims().end());
    const auto count = static_cast<std::size_t>(element_count(tensor.shape));
    const std::size_t bytes = count * size_of(*type);

    if (proto.data_location() == 1) {
        read_external(proto, folder, tensor, bytes);
    } else if (proto.has_raw_data()) {
        if (proto.raw_data().size() != bytes)
            fail(proto, fmt::format("{} bytes of data, not {}", proto.raw_data().size(), bytes));
        const auto* data = reinterpret_cast<const std::byte*>(proto.raw_data().data());
        tensor.bytes.assign(data, data + bytes);
    } else {
        const auto copy = [&](const auto& field) {
            if (static_cast<std::size_t>(field.size()) != count)
                fail(proto, fmt::format("{} values, not {}", field.size(), count));
            tensor.bytes.resize(bytes);
            if constexpr (!std::is_same_v<decltype(*field.data()), const std::int32_t&>)
                if (bytes > 0) std::memcpy(tensor.bytes.data(), field.data(), bytes);
        };
        switch (*type) {
            case ElementType::kFp32:
                copy(proto.float_data());
                break;
            case ElementType::kFp64:
                copy(proto.double_data());
                break;
            case ElementType::kInt64:
                copy(proto.int64_data());
                break;
            default:
                copy(proto.int32_data());
                read_int32_data(proto, tensor);
        }
    }
    if (*type == ElementType::kBool)
        for (std::uint8_t& value : tensor.as<std::uint8_t>()) value = value != 0;
    return tensor;
}

}  // namespace lockstep::network::onnx
