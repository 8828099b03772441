// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/train/checkpoint.h"

#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "sim/error/error.h"
#include "sim/stats/sha256.h"
#include "sim/stats/statistics.h"

namespace lockstep::network {

namespace {

constexpr std::string_view kMagic = "LSTRAIN1";
constexpr std::size_t kDigest = 64;

/// Doubles as their bits: a decimal text may lose the last.
std::uint64_t bits(double value) {
    return std::bit_cast<std::uint64_t>(value);
}

}  // namespace

std::string to_bytes(const Checkpoint& c) {
    nlohmann::json header = {{"network", c.network},
                             {"seed", c.seed},
                             {"epoch", c.epoch},
                             {"position", c.position},
                             {"step", c.step},
                             {"loss_sum", bits(c.loss_sum)},
                             {"loss_scale", bits(c.loss_scale)},
                             {"good_steps", c.good_steps},
                             {"variables", nlohmann::json::array()}};
    for (const auto& [name, tensor] : c.variables)
        header["variables"].push_back(
            {{"name", name}, {"type", name_of(tensor.type)}, {"shape", tensor.shape}});
    const std::string text = header.dump();
    std::string bytes(kMagic);
    for (int i = 0; i < 8; ++i)
        bytes += static_cast<char>(std::uint64_t{text.size()} >> (8 * i) & 255);
    bytes += text;
    for (const auto& [name, tensor] : c.variables)
        bytes.append(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
    return bytes + stats::sha256(bytes);
}

Checkpoint parse_checkpoint(std::string_view bytes, const std::string& name) {
    const auto fail = [&](std::size_t offset, const std::string& reason) {
        throw InputError(fmt::format("{}: offset {}: {}", name, offset, reason));
    };
    if (bytes.substr(0, kMagic.size()) != kMagic) fail(0, "not a checkpoint of a training");
    std::size_t at = kMagic.size();
    if (bytes.size() < at + 8 + kDigest) fail(bytes.size(), "the file ends too early");
    const std::string_view body = bytes.substr(0, bytes.size() - kDigest);
    if (stats::sha256(body) != bytes.substr(body.size()))
        fail(body.size(), "the checksum is not that of the file: it was damaged or cut");
    std::uint64_t length = 0;
    for (std::size_t i = 0; i < 8; ++i)
        length |= std::uint64_t{static_cast<unsigned char>(body[at + i])} << (8 * i);
    at += 8;
    if (length > body.size() - at) fail(at, "the header is longer than the file");
    Checkpoint c;
    try {
        const nlohmann::json header = nlohmann::json::parse(body.substr(at, length));
        at += length;
        // A number with a fraction or an exponent may lie outside of what integers hold.
        const auto whole = [&](const char* key) {
            const nlohmann::json& number = header.at(key);
            if (!number.is_number_integer()) fail(at, fmt::format("{} is no integer", key));
            return number.get<std::uint64_t>();
        };
        c.network = header.at("network").get<std::string>();
        c.seed = whole("seed");
        c.epoch = whole("epoch");
        c.position = whole("position");
        c.step = whole("step");
        c.loss_sum = std::bit_cast<double>(whole("loss_sum"));
        c.loss_scale = std::bit_cast<double>(whole("loss_scale"));
        c.good_steps = whole("good_steps");
        for (const nlohmann::json& variable : header.at("variables")) {
            const auto type = element_type_named(variable.at("type").get<std::string>());
            if (!type) fail(at, "an element type that there is not");
            Shape shape;
            for (const nlohmann::json& extent : variable.at("shape")) {
                if (!extent.is_number_integer()) fail(at, "an extent is no integer");
                shape.push_back(extent.get<std::int64_t>());
            }
            const auto count = static_cast<std::uint64_t>(element_count(shape));
            if (count > (body.size() - at) / size_of(*type))
                fail(at, "the file ends within a tensor");
            Tensor tensor(*type, shape);
            if (!tensor.bytes.empty())
                std::memcpy(tensor.bytes.data(), body.data() + at, tensor.bytes.size());
            at += tensor.bytes.size();
            c.variables.emplace_back(variable.at("name").get<std::string>(), std::move(tensor));
        }
    } catch (const nlohmann::json::exception& error) {
        fail(at, error.what());
    }
    if (at != body.size()) fail(at, fmt::format("{} bytes too many", body.size() - at));
    return c;
}

void write_checkpoint(const Checkpoint& checkpoint, const std::string& path) {
    stats::write_whole(path, to_bytes(checkpoint));
}

Checkpoint read_checkpoint(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file || std::filesystem::is_directory(path))
        throw InputError(fmt::format("{}: cannot be read", path));
    return parse_checkpoint(
        std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()), path);
}

}  // namespace lockstep::network
