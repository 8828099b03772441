// SPDX-License-Identifier: Apache-2.0
#include "workloads/run/gpu/kernel_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "sim/stats/statistics.h"
#include "workloads/run/subject.h"

namespace lockstep::run {

std::uint64_t KernelArguments::byte_count(std::size_t index, const std::string& text,
                                          std::string_view digits) const {
    std::uint64_t bytes = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bytes);
    if (error != std::errc{} || end != digits.data() + digits.size() || bytes == 0)
        fail(index, text, fmt::format("'{}' is not a number of bytes", digits));
    return bytes;
}

void KernelArguments::put(std::size_t index, const std::string& text, const void* value,
                          std::size_t bytes) {
    const cubin::Parameter& parameter = kernel_.parameters[index];
    if (parameter.size != bytes)
        fail(index, text,
             fmt::format("the kernel's parameter has {} bytes, not {}", parameter.size, bytes));
    std::memcpy(packed_.data() + parameter.offset, value, bytes);
}

DevicePointer KernelArguments::buffer(std::size_t index, const std::string& text,
                                      std::uint64_t bytes) {
    const DevicePointer address = device_.allocate(bytes);
    if (address == 0) fail(index, text, "the machine's memory is exhausted");
    if (!text.starts_with("out:")) device_.note_host_write(address, bytes);
    put(index, text, &address, sizeof address);
    return address;
}

void KernelArguments::add(std::size_t index, const std::string& text) {
    const std::size_t colon = text.find(':');
    if (colon == std::string::npos)
        add_number(index, text);
    else
        add_buffer(index, text, colon);
}

void KernelArguments::add_buffer(std::size_t index, const std::string& text, std::size_t colon) {
    const std::string kind = text.substr(0, colon);
    const std::string rest = text.substr(colon + 1);
    const std::size_t second = rest.find(':');
    const std::string first = rest.substr(0, second);
    const std::string last = second == std::string::npos ? "" : rest.substr(second + 1);
    if (kind == "zeros" || kind == "iota" || kind == "random") {
        const std::uint64_t bytes = byte_count(index, text, rest);
        auto* const to = reinterpret_cast<std::byte*>(buffer(index, text, bytes));
        for (std::uint64_t at = 0; kind != "zeros" && at < bytes; at += sizeof(std::uint32_t)) {
            random_ = random_ * 6364136223846793005ull + 1442695040888963407ull;
            const auto word = static_cast<std::uint32_t>(kind == "iota" ? at / sizeof(std::uint32_t)
                                                                        : random_ >> 32);
            std::memcpy(to + at, &word, std::min<std::uint64_t>(sizeof word, bytes - at));
        }
    } else if (kind == "in" || kind == "inout") {
        const std::vector<std::uint8_t> contents = read_file(first);
        if (contents.empty()) fail(index, text, "the file is empty");
        const DevicePointer address = buffer(index, text, contents.size());
        std::memcpy(reinterpret_cast<void*>(address), contents.data(), contents.size());
        if (kind == "inout") outputs_.push_back({address, contents.size(), last});
    } else if (kind == "out") {
        const std::uint64_t bytes = byte_count(index, text, first);
        outputs_.push_back({buffer(index, text, bytes), bytes, last});
    } else {
        fail(index, text, "wanted a number, or zeros:, iota:, random:, in:, out: or inout:");
    }
    if (!outputs_.empty() && outputs_.back().file.empty())
        fail(index, text, "the name of the file to write is missing");
    if (!outputs_.empty()) stats::check_writable(outputs_.back().file);
}

void KernelArguments::add_number(std::size_t index, const std::string& text) {
    const std::uint32_t bytes = kernel_.parameters[index].size;
    const bool is_hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    const char* const end = text.data() + text.size();
    if (!is_hexadecimal && text.find_first_of(".eEnN") != std::string::npos) {
        double number = 0;
        const auto [at, error] = std::from_chars(text.data(), end, number);
        if (error != std::errc{} || at != end) fail(index, text, "is not a number");
        const auto narrow = static_cast<float>(number);
        if (bytes == sizeof narrow)
            put(index, text, &narrow, sizeof narrow);
        else
            put(index, text, &number, sizeof number);
        return;
    }
    std::int64_t number = 0;
    const auto [at, error] =
        is_hexadecimal
            ? std::from_chars(text.data() + 2, end, reinterpret_cast<std::uint64_t&>(number), 16)
            : std::from_chars(text.data(), end, number);
    if (error != std::errc{} || at != end) fail(index, text, "is not a number");
    if (bytes > sizeof number)
        fail(index, text, fmt::format("the kernel's parameter has {} bytes", bytes));
    // Signed or not is the kernel's to say: what neither reading holds would lose its upper bytes.
    const unsigned bits = 8 * bytes;
    if (bits < 64 && (number < -(std::int64_t{1} << (bits - 1)) || number >> bits > 0))
        fail(index, text,
             fmt::format("does not fit the {} byte{} of the kernel's parameter", bytes,
                         bytes == 1 ? "" : "s"));
    put(index, text, &number, bytes);
}

void KernelArguments::write_outputs() const {
    for (const Output& output : outputs_) {
        stats::write_whole(output.file,
                           {reinterpret_cast<const char*>(output.address), output.bytes});
    }
}

}  // namespace lockstep::run
