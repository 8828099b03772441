// SPDX-License-Identifier: Apache-2.0
// What a job runs: a file of some kind, or something built in.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::run {

enum class SubjectKind : std::uint8_t {
    kExecutable,
    kCubin,
    kKernel,
    kNetwork,
    kTpuProgram,
    kNpuProgram
};
/// "an executable"
std::string_view phrase_of(SubjectKind kind);

struct Subject {
    /// More than one where a kernel and a network have the same name.
    std::vector<SubjectKind> kinds;
    std::string file;                 ///< without what stands behind its name; "": it is built in
    std::vector<std::uint8_t> bytes;  ///< of the file, but of no network's

    bool is(SubjectKind kind) const;
};

/// Finds out what `what` is. Throws InputError where it is nothing that runs, with what would be
/// right.
Subject identify(const std::string& what);

/// Whole contents of a file. Throws InputError.
std::vector<std::uint8_t> read_file(const std::string& path);

}  // namespace lockstep::run
