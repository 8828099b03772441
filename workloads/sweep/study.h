// SPDX-License-Identifier: Apache-2.0
// What a sweep is: what runs, what varies, what may be together, what is wanted. The command line
// and study files say the same in words (StudyText); a Study is what was understood.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sim/process/process_pool.h"
#include "workloads/run/job.h"
#include "workloads/sweep/axis.h"
#include "workloads/sweep/expression.h"

namespace lockstep::sweep {

/// How points are chosen from the axes.
enum class Design : std::uint8_t {
    kGrid,            ///< all combinations
    kOneAtATime,      ///< the base, and each value of each axis alone
    kRandom,          ///< N independent samples
    kLatinHypercube,  ///< N samples, one in each N-th of every axis
    kSobol,           ///< N (axes + 2) samples for Sobol indices (Saltelli 2010)
};

/// A text and where it stands.
struct Placed {
    std::string text;
    config::Place place;
};

struct AxisText {
    std::string name;
    std::vector<std::string> items;
    config::Place place;
};

struct StudyText {
    std::vector<Placed> workloads, machines;
    std::vector<AxisText> axes;
    std::vector<Placed> overrides;  ///< path=value, of every point
    std::vector<Placed> constraints, objectives;
    std::vector<Placed> prices;  ///< machine=dollars of an hour
    Placed design;               ///< grid, one-at-a-time, random, lhs, sobol; "": by samples
    std::uint64_t samples = 0;
    std::uint64_t seed = 0;
    run::Mode mode = run::Mode::kCycle;
    std::string l2;  ///< "": as the machine has it
    bool no_values = false;
    std::vector<std::string> arguments;  ///< of executables
    process::Limits limits;
    bool stops_dominated = false;
};

struct Objective {
    std::string name;
    Expression formula;
    bool is_maximised = false;
    /// The lesser, the better.
    double cost(double value) const { return is_maximised ? -value : value; }
};

struct Workload {
    std::string text;
    std::string contents_sha256;  ///< of a file; "": built in
};

struct SweptMachine {
    std::string name;  ///< as given: a name or a file
    run::MachinePtr machine;
    std::string text_sha256;
    double dollars_per_hour = 0;  ///< 0: not given
};

struct Study {
    std::vector<Workload> workloads;
    std::vector<SweptMachine> machines;
    std::vector<Axis> axes;
    std::vector<std::string> overrides;
    std::vector<Expression> constraints;
    std::vector<Objective> objectives;
    Design design = Design::kGrid;
    std::uint64_t samples = 0, seed = 0;
    run::Mode mode = run::Mode::kCycle;
    std::string l2;
    bool no_values = false;
    bool counts_energy = false;  ///< an objective needs it
    std::vector<std::string> arguments;
    process::Limits limits;
    bool stops_dominated = false;
};

std::string_view name_of(Design design);

/// Throws InputError with the place of what is wrong.
Study make_study(const StudyText& text);

/// Reads a study file (YAML) into `into`: README.md has its keys. Throws InputError "file:line:
/// ...".
void read_study_file(const std::string& path, StudyText& into);

/// Splits `path=a,b,c`. Throws InputError.
AxisText split_axis(const std::string& text, const config::Place& place);

}  // namespace lockstep::sweep
