// SPDX-License-Identifier: Apache-2.0
// The state of sweeps: what came of each point, in one SQLite file. One process writes; a result is
// there whole or not at all, whenever the process ends.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "workloads/sweep/result.h"

struct sqlite3;

namespace lockstep::sweep {

class Store {
  public:
    /// Opens or makes the file. Throws InputError where it cannot be, is no such file, or another
    /// process has it.
    explicit Store(const std::string& file);

    /// What is known, by the points' keys.
    std::map<std::string, Result> results() const;
    /// The point's first and only result. Throws InputError where the disk is full.
    void add(const std::string& key, const std::string& description, const Result& result);
    /// Forgets points that failed, or all.
    void forget_failed();
    void forget_all();

  private:
    struct Close {
        void operator()(sqlite3* database) const;
    };
    void execute(const char* sql);
    [[noreturn]] void fail() const;

    std::string file_;
    std::unique_ptr<sqlite3, Close> database_;
};

}  // namespace lockstep::sweep
