// SPDX-License-Identifier: Apache-2.0
// A suite: a named list of values that were measured or published, each beside what a model says.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::validation {

/// Whether the row was looked at when the model's parameters were chosen (train), or is there to
/// see whether they hold elsewhere (test). Noisy ones are shown and not counted.
enum class Part : std::uint8_t { kTest, kTrain, kNoisy };

struct Row {
    std::string name;      ///< what ran, as `gemm:m=64,n=64,k=64`
    std::string quantity;  ///< what is compared, as `cycles`; statistics are taken by quantity
    double reference = 0;
    double simulated = 0;
    std::string unit;    ///< "cycles", "us", "%", ...
    std::string source;  ///< of the reference value
    Part part = Part::kTest;
    std::string note;
    double allowed = 0;          ///< how far simulated may be off, in the row's unit; 0: not said
    std::string group;           ///< statistics are also taken by group, where rows have one
    bool is_percentage = false;  ///< its error is a difference, whatever the suite's others are
};

/// How far a simulated value is from its reference.
enum class Error : std::uint8_t {
    kRelative,    ///< simulated / reference - 1, in percent
    kDifference,  ///< simulated - reference, in the row's unit (for values that are percentages)
};

/// What a comparison was asked for.
struct Request {
    std::string machine;  ///< a name or a file; the suite's own where the user named none
    unsigned threads = 1;
    bool progress = false;      ///< show a progress line on stderr
    std::string measured;       ///< a folder of measurements; empty: those that are built in
    std::string programs = "";  ///< a folder of executables to run
    std::string store = "";     ///< ... a file for what they take
    unsigned limit = 0;         ///< seconds after which a long suite stops; 0: none
    /// Called with rows as they come, in their order, by suites that take long.
    std::function<void(std::span<const Row>)> on_rows;
};

/// What a suite's test rows of one quantity are to reach.
struct Goal {
    std::string_view quantity;
    double mean_absolute = 0, maximum_absolute = 0;  ///< at most
    double pearson = 0;                              ///< at least
};

struct Suite {
    std::string_view name;
    std::string_view summary;    ///< one line: what is compared with what
    std::string_view machine;    ///< the default of --on
    bool runs_programs = false;  ///< --programs: a folder of executables
    bool is_exact = false;       ///< every row must be equal; otherwise the verb exits with 5
    Error error = Error::kRelative;
    /// The mean absolute error to reach, over all rows, and who reached it; 0: none.
    double bar = 0;
    std::string_view bar_source;
    std::string_view bar_quantity = "";  ///< the bar is on the rows of this quantity only
    std::optional<Goal> goal = {};
    /// Runs the models. Throws InputError where the machine is not of the kind that it needs.
    std::vector<Row> (*rows)(const Request&) = nullptr;
};

/// All suites. What you add: a file with a `Suite NAME_suite()` and its line in suites.cpp.
std::span<const Suite> suites();

/// Throws InputError with the nearest name and all names.
const Suite& find_suite(std::string_view name);

}  // namespace lockstep::validation
