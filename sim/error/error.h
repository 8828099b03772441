// SPDX-License-Identifier: Apache-2.0
// The ways a run can fail, and the exit status each one ends the program with.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>

namespace lockstep {

/// Exit status of the lockstep program (the contract of the command line).
enum class ExitStatus : int {
    kDone = 0,
    kInputError = 2,     ///< the user's input is wrong
    kProgramFault = 3,   ///< the simulated program faulted
    kInternalError = 4,  ///< an internal check failed: our bug
    kMismatch = 5,       ///< --verify found a mismatch
};

/// Base of all errors that end a run with a status of the contract.
class Error : public std::runtime_error {
  public:
    Error(ExitStatus status, const std::string& message)
        : std::runtime_error(message), status_(status) {}
    ExitStatus status() const { return status_; }

  private:
    ExitStatus status_;
};

/// The user's input is wrong: say where (file, line or offset), what, and the nearest right thing.
class InputError : public Error {
  public:
    explicit InputError(const std::string& message) : Error(ExitStatus::kInputError, message) {}
};

/// The simulated program did what its machine does not allow.
class ProgramFault : public Error {
  public:
    explicit ProgramFault(const std::string& message) : Error(ExitStatus::kProgramFault, message) {}
};

/// An internal check failed.
class InternalError : public Error {
  public:
    explicit InternalError(const std::string& message)
        : Error(ExitStatus::kInternalError, message) {}
};

/// Throws InternalError; the slow path of LOCKSTEP_CHECK.
[[noreturn]] void internal_error(const char* file, int line, const std::string& message);

}  // namespace lockstep

/// An invariant that is always checked. Usage: LOCKSTEP_CHECK(x < n, "slot {} of {}", x, n).
#define LOCKSTEP_CHECK(condition, ...)                                                \
    do {                                                                              \
        if (!(condition)) [[unlikely]]                                                \
            ::lockstep::internal_error(__FILE__, __LINE__, fmt::format(__VA_ARGS__)); \
    } while (false)
