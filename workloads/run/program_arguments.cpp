// SPDX-License-Identifier: Apache-2.0
#include "workloads/run/program_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "workloads/run/subject.h"

namespace lockstep::run {

namespace {

/// Small values for floats, any bits for integers.
void fill_random(const command::Buffer& buffer, std::span<std::uint8_t> contents,
                 std::mt19937_64& random) {
    if (buffer.type == command::DataType::kFp32 || buffer.type == command::DataType::kBf16) {
        // In [-1, 1) with 7 bits behind the point, exact in both types: the upper half of an fp32.
        const std::size_t size = command::size_of(buffer.type);
        for (std::size_t at = 0; at + size <= contents.size(); at += size) {
            const float value = (static_cast<float>(random() % 256) - 128) / 128;
            const auto bits = std::bit_cast<std::uint32_t>(value);
            for (std::size_t i = 0; i < size; ++i)
                contents[at + i] = static_cast<std::uint8_t>(bits >> (8 * (4 - size + i)));
        }
        return;
    }
    for (std::uint8_t& byte : contents) byte = static_cast<std::uint8_t>(random());
}

std::uint64_t checksum(std::span<const std::uint8_t> bytes) {
    std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
    for (const std::uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001b3u;
    return hash;
}

}  // namespace

ProgramArguments::ProgramArguments(const Job& job, const command::Program& program)
    : program_(program), random_(job.seed * 2 + 1) {
    for (std::size_t i = 0; i < program.buffers.size(); ++i)
        if (program.buffers[i].role == command::Role::kInput ||
            program.buffers[i].role == command::Role::kOutput)
            buffers_.push_back(i);
    if (job.kernel_arguments.size() > buffers_.size())
        throw InputError(fmt::format("{} --arg, but the program has {} inputs and outputs",
                                     job.kernel_arguments.size(), buffers_.size()));
    texts_ = job.kernel_arguments;
    texts_.resize(buffers_.size());
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
        const bool input = program.buffers[buffers_[i]].role == command::Role::kInput;
        const std::string& text = texts_[i];
        const bool known = text.empty() || (input ? text == "random" || text == "zeros" ||
                                                        text == "iota" || text.starts_with("in:")
                                                  : text.starts_with("out:"));
        if (!known)
            throw InputError(fmt::format(
                "--arg {}: buffer {} is an {}; wanted {}", text, program.buffers[buffers_[i]].name,
                input ? "input" : "output", input ? "in:FILE, random, zeros or iota" : "out:FILE"));
        if (text.starts_with("out:")) stats::check_writable(text.substr(4));
    }
}

void ProgramArguments::fill(command::Storage& storage) {
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
        const command::Buffer& buffer = program_.buffers[buffers_[i]];
        if (buffer.role != command::Role::kInput) continue;
        const std::span<std::uint8_t> contents = storage.contents(buffers_[i]);
        if (texts_[i].starts_with("in:")) {
            const std::vector<std::uint8_t> bytes = read_file(texts_[i].substr(3));
            if (bytes.size() != contents.size())
                throw InputError(fmt::format("--arg {}: {} bytes, buffer {} has {}", texts_[i],
                                             bytes.size(), buffer.name, contents.size()));
            std::copy(bytes.begin(), bytes.end(), contents.begin());
        } else if (texts_[i] == "iota") {
            std::iota(contents.begin(), contents.end(), std::uint8_t{0});
        } else if (texts_[i] != "zeros") {
            fill_random(buffer, contents, random_);
        }
    }
}

void ProgramArguments::take_results(command::Storage& storage, Screen& screen) const {
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
        const command::Buffer& buffer = program_.buffers[buffers_[i]];
        if (buffer.role != command::Role::kOutput) continue;
        const std::span<std::uint8_t> contents = storage.contents(buffers_[i]);
        screen.print(fmt::format("{}: {} bytes, checksum {:016x}\n", buffer.name, contents.size(),
                                 checksum(contents)));
        if (texts_[i].empty()) continue;
        const std::string path = texts_[i].substr(4);
        stats::write_whole(path, {reinterpret_cast<const char*>(contents.data()), contents.size()});
    }
}

}  // namespace lockstep::run
