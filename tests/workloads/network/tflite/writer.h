// SPDX-License-Identifier: Apache-2.0
// Writes TensorFlow Lite models for tests: FlatBuffers, each table followed by what it refers to.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace lockstep::network::tflite {

class Node;
using Children = std::vector<Node>;
using Numbers32 = std::vector<std::int32_t>;
using Numbers64 = std::vector<std::int64_t>;
using Reals = std::vector<float>;
using Raw = std::vector<std::uint8_t>;
/// A field: a scalar, a string, a vector, a table or a vector of tables.
using Field = std::variant<std::int8_t, std::int32_t, std::uint32_t, float, std::string, Numbers32,
                           Numbers64, Reals, Raw, Node, Children>;

/// A table: fields by their number.
class Node {
  public:
    std::map<std::size_t, Field> fields;
};

class Writer {
  public:
    static Raw file(const Node& root) {
        Writer w;
        w.put<std::uint32_t>(0);
        w.append("TFL3", 4);
        w.patch(0, w.table(root));
        return w.bytes_;
    }

  private:
    template <class T>
    void put(T value) {
        append(&value, sizeof(T));
    }
    void append(const void* data, std::size_t size) {
        const auto* bytes = static_cast<const std::uint8_t*>(data);
        bytes_.insert(bytes_.end(), bytes, bytes + size);
    }
    void align(std::size_t to) { bytes_.resize((bytes_.size() + to - 1) / to * to, 0); }
    void patch(std::size_t at, std::size_t target) {
        const auto offset = static_cast<std::uint32_t>(target - at);
        std::memcpy(bytes_.data() + at, &offset, 4);
    }

    std::size_t table(const Node& node) {
        align(8);
        const std::size_t slots = node.fields.empty() ? 0 : node.fields.rbegin()->first + 1;
        std::vector<std::uint16_t> places(slots, 0);
        std::size_t size = 4;
        for (const auto& [field, value] : node.fields) {
            places[field] = static_cast<std::uint16_t>(size);
            size += 4;  // all that is not at another place fits
        }
        put<std::uint16_t>(static_cast<std::uint16_t>(4 + 2 * slots));
        put<std::uint16_t>(static_cast<std::uint16_t>(size));
        const std::size_t vtable = bytes_.size() - 4;
        for (const std::uint16_t place : places) put(place);
        align(4);
        const std::size_t at = bytes_.size();
        put<std::int32_t>(static_cast<std::int32_t>(at - vtable));
        bytes_.resize(at + size, 0);
        for (const auto& [field, value] : node.fields) {
            const std::size_t place = at + places[field];
            std::visit([&](const auto& v) { write(place, v); }, value);
        }
        return at;
    }

    template <class T>
    requires std::is_arithmetic_v<T>
    void write(std::size_t place, T value) {
        std::memcpy(bytes_.data() + place, &value, sizeof(T));
    }
    template <class T>
    void write(std::size_t place, const std::vector<T>& values) {
        align(8);
        bytes_.resize(bytes_.size() + 4, 0);  // the elements are aligned to 8
        patch(place, bytes_.size());
        put(static_cast<std::uint32_t>(values.size()));
        append(values.data(), values.size() * sizeof(T));
    }
    void write(std::size_t place, const std::string& text) {
        write(place, Raw(text.begin(), text.end()));
    }
    void write(std::size_t place, const Node& node) { patch(place, table(node)); }
    void write(std::size_t place, const Children& children) {
        align(4);
        patch(place, bytes_.size());
        put(static_cast<std::uint32_t>(children.size()));
        const std::size_t first = bytes_.size();
        bytes_.resize(first + 4 * children.size(), 0);
        for (std::size_t i = 0; i < children.size(); ++i) patch(first + 4 * i, table(children[i]));
    }

    Raw bytes_;
};

/// A model of one subgraph, tensor by tensor and operator by operator.
class ModelWriter {
  public:
    ModelWriter() { buffers_.push_back({}); }

    /// int8 with one scale.
    std::int32_t tensor(Numbers32 shape, float scale, std::int64_t zero, Raw data = {}) {
        return add(std::move(shape), 9, {{2, Reals{scale}}, {3, Numbers64{zero}}}, std::move(data));
    }
    /// int8 weights, a scale for each slice of a dimension.
    std::int32_t weights(Numbers32 shape, Reals scales, std::int32_t dimension, Raw data) {
        const Numbers64 zeros(scales.size(), 0);
        return add(std::move(shape), 9, {{2, std::move(scales)}, {3, zeros}, {6, dimension}},
                   std::move(data));
    }
    std::int32_t integers(Numbers32 shape, const Numbers32& values) {
        Raw data(4 * values.size());
        std::memcpy(data.data(), values.data(), data.size());
        return add(std::move(shape), 2, {}, std::move(data));
    }
    void op(std::int32_t code, Numbers32 in, Numbers32 out,
            std::map<std::size_t, Field> options = {}) {
        const auto index = static_cast<std::uint32_t>(codes_.size());
        codes_.push_back({{{0, static_cast<std::int8_t>(std::min(code, 127))}, {3, code}}});
        operators_.push_back({{{0, index},
                               {1, std::move(in)},
                               {2, std::move(out)},
                               {3, std::int8_t{1}},
                               {4, Node{std::move(options)}}}});
    }
    Raw file(Numbers32 inputs, Numbers32 outputs) const {
        const Node graph{
            {{0, tensors_}, {1, std::move(inputs)}, {2, std::move(outputs)}, {3, operators_}}};
        return Writer::file(
            {{{0, std::uint32_t{3}}, {1, codes_}, {2, Children{graph}}, {4, buffers_}}});
    }

  private:
    std::int32_t add(Numbers32 shape, std::int8_t type, std::map<std::size_t, Field> quantisation,
                     Raw data) {
        std::map<std::size_t, Field> fields = {
            {0, std::move(shape)}, {1, type}, {3, std::string("t")}};
        if (!quantisation.empty()) fields.emplace(4, Node{std::move(quantisation)});
        if (!data.empty()) {
            fields.emplace(2, static_cast<std::uint32_t>(buffers_.size()));
            buffers_.push_back({{{0, std::move(data)}}});
        }
        tensors_.push_back({std::move(fields)});
        return static_cast<std::int32_t>(tensors_.size() - 1);
    }

    Children tensors_, buffers_, codes_, operators_;
};

}  // namespace lockstep::network::tflite
