// SPDX-License-Identifier: Apache-2.0
#include "workloads/api/python/values.h"

#include <pybind11/stl.h>

#include <cstring>
#include <functional>

namespace lockstep::python {

namespace py = pybind11;

namespace {

/// Types of elements by Python's format letters (struct); bf16 has none and travels as its bits.
struct Format {
    const char* type;
    char letter;
    py::ssize_t bytes;
};
constexpr Format kFormats[] = {{"fp32", 'f', 4},  {"fp64", 'd', 8},  {"fp16", 'e', 2},
                               {"int8", 'b', 1},  {"uint8", 'B', 1}, {"int16", 'h', 2},
                               {"int32", 'i', 4}, {"int64", 'q', 8}, {"int64", 'l', 8},
                               {"bool", '?', 1},  {"bf16", 'H', 2}};

std::vector<std::byte> bytes_of(const py::buffer_info& info) {
    std::vector<std::byte> bytes;
    bytes.reserve(static_cast<std::size_t>(info.size * info.itemsize));
    const std::function<void(const std::byte*, py::ssize_t)> take = [&](const std::byte* at,
                                                                        py::ssize_t dimension) {
        if (dimension == info.ndim) {
            bytes.insert(bytes.end(), at, at + info.itemsize);
            return;
        }
        for (py::ssize_t i = 0; i < info.shape[dimension]; ++i)
            take(at + i * info.strides[dimension], dimension + 1);
    };
    take(static_cast<const std::byte*>(info.ptr), 0);
    return bytes;
}

}  // namespace

api::Tensor tensor_from(const py::buffer& buffer) {
    const py::buffer_info info = buffer.request();
    const char letter = info.format.empty() ? 'B' : info.format.back();
    const bool is_native =
        info.format.size() == 1 || (info.format.size() == 2 && std::strchr("@=<", info.format[0]));
    for (const Format& format : kFormats) {
        if (!is_native || format.letter != letter || format.bytes != info.itemsize) continue;
        api::Tensor tensor;
        tensor.type = format.type;
        tensor.shape.assign(info.shape.begin(), info.shape.end());
        tensor.bytes = bytes_of(info);
        return tensor;
    }
    throw py::type_error("no network has elements of the format '" + info.format + "'");
}

py::buffer_info buffer_of(api::Tensor& tensor) {
    for (const Format& format : kFormats) {
        if (tensor.type != format.type) continue;
        std::vector<py::ssize_t> strides(tensor.shape.size());
        py::ssize_t stride = format.bytes;
        for (std::size_t i = strides.size(); i-- > 0; stride *= tensor.shape[i])
            strides[i] = stride;
        return {tensor.bytes.data(),
                format.bytes,
                std::string(1, format.letter),
                static_cast<py::ssize_t>(tensor.shape.size()),
                std::vector<py::ssize_t>(tensor.shape.begin(), tensor.shape.end()),
                strides};
    }
    throw py::type_error("no buffer of " + tensor.type);
}

api::Argument argument_from(const py::handle& value, std::uint32_t bytes) {
    if (py::isinstance<py::bool_>(value) || py::isinstance<py::int_>(value)) {
        py::object whole = py::reinterpret_borrow<py::object>(value);
        const bool is_negative = whole.attr("__lt__")(0).cast<bool>();
        const auto text = whole.attr("to_bytes")(bytes, "little", py::arg("signed") = is_negative)
                              .cast<std::string>();
        const auto* const first = reinterpret_cast<const std::byte*>(text.data());
        return api::Argument(std::vector<std::byte>(first, first + text.size()));
    }
    if (py::isinstance<py::float_>(value)) {
        const double real = value.cast<double>();
        if (bytes == sizeof(float)) return api::Argument(static_cast<float>(real));
        return api::Argument(real);
    }
    if (py::isinstance<py::buffer>(value))
        return api::Argument(bytes_of(py::reinterpret_borrow<py::buffer>(value).request()));
    throw py::type_error("an argument is an int, a float or bytes");
}

api::Dim3 dim3_from(const py::handle& value) {
    if (py::isinstance<py::int_>(value)) return {value.cast<std::uint32_t>(), 1, 1};
    const auto list = value.cast<std::vector<std::uint32_t>>();
    if (list.empty() || list.size() > 3) throw py::type_error("a shape has 1 to 3 dimensions");
    return {list[0], list.size() > 1 ? list[1] : 1, list.size() > 2 ? list[2] : 1};
}

api::Mode mode_from(const std::string& name) {
    if (name == "cycle") return api::Mode::kCycle;
    if (name == "emulate") return api::Mode::kEmulate;
    throw py::value_error("mode is 'cycle' or 'emulate', not '" + name + "'");
}

api::RunOptions options_from(const py::kwargs& given) {
    api::RunOptions options;
    const auto member = [](auto& into) {
        return [&into](const py::handle& value) {
            into = value.cast<std::remove_reference_t<decltype(into)>>();
        };
    };
    const std::map<std::string, std::function<void(const py::handle&)>> names = {
        {"mode",
         [&](const py::handle& value) { options.mode = mode_from(value.cast<std::string>()); }},
        {"threads", member(options.threads)},
        {"seed", member(options.seed)},
        {"verify", member(options.verify)},
        {"energy", member(options.energy)},
        {"no_values", member(options.no_values)},
        {"sample", member(options.sample)},
        {"host", member(options.host)},
        {"l2", member(options.l2)},
        {"precision", member(options.precision)},
        {"arguments", member(options.arguments)},
        {"kernel", member(options.kernel)},
        {"grid", member(options.grid)},
        {"block", member(options.block)},
        {"kernel_arguments", member(options.kernel_arguments)},
        {"dynamic_shared_bytes", member(options.dynamic_shared_bytes)},
    };
    for (const auto& [key, value] : given) {
        const auto at = names.find(key.cast<std::string>());
        if (at == names.end())
            throw py::type_error("there is no option '" + key.cast<std::string>() + "'");
        at->second(value);
    }
    return options;
}

}  // namespace lockstep::python
