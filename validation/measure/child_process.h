// SPDX-License-Identifier: Apache-2.0
// Work in processes of their own: a fault or a hang of the GPU costs one piece of it, not the rest.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <string>

namespace lockstep::validation {

/// Runs `work` in a process of its own, which returns a text through a file. Throws InputError
/// with what it said where it failed, or hung for `timeout` seconds.
std::string in_child(const std::filesystem::path& file, unsigned timeout,
                     const std::function<std::string()>& work);

/// Holds the GPU open, as otherwise the driver starts it anew for each pair, which takes seconds
/// where no persistence daemon runs. Its context has nothing to do and costs the others no time.
class Keeper {
  public:
    explicit Keeper(const std::string& library);
    ~Keeper();
    Keeper(const Keeper&) = delete;
    Keeper& operator=(const Keeper&) = delete;

  private:
    pid_t child_;
};

}  // namespace lockstep::validation
