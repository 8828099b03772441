// SPDX-License-Identifier: Apache-2.0
// A run that a page asks for: built-in workloads on built-in machines, with options that neither
// read nor write files. What it holds becomes words of a program, never a shell's.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace lockstep::lab {

class RunRequest {
  public:
    /// "gemm:m=3,n=2,k=2 --on systolic --set array.rows=2", as behind `./lockstep run`; "run" may
    /// stand in front. Throws InputError with the word that is not taken.
    static RunRequest from_text(const std::string& text);
    /// {"command": "as above"}, or {"x": ..., "on": ..., "set": [...], and options by their names
    /// without dashes}. Throws InputError.
    static RunRequest from_json(const nlohmann::json& json);

    /// Behind the program's name, checked; without --stats.
    const std::vector<std::string>& words() const { return words_; }

  private:
    void check();
    std::vector<std::string> words_ = {"run"};
};

/// A command of a lab cut into words; quotes keep blanks.
std::vector<std::string> words_of(const std::string& command);

}  // namespace lockstep::lab
