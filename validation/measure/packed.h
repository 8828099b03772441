// SPDX-License-Identifier: Apache-2.0
// Bytes that are kept beside the measurements: zstd, whole or not at all.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace lockstep::validation {

std::string pack(std::span<const std::byte> bytes);
/// Throws InputError with the file's name where it is not what pack() makes of at most
/// `maximum_bytes`.
std::vector<std::byte> unpack(std::string_view packed, std::uint64_t maximum_bytes,
                              const std::string& file_name);

/// Where the bytes of an output are kept.
std::filesystem::path output_path(const std::filesystem::path& folder, const std::string& sha256);

}  // namespace lockstep::validation
