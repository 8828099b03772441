// SPDX-License-Identifier: Apache-2.0
// What is stored of measurements: JSON, one file for each group of the plan, and one for the
// counters of each state of the caches. Written and read here alone.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sim/stats/value.h"
#include "validation/measure/allocation_log.h"
#include "validation/measure/tables.h"

namespace lockstep::validation {

inline constexpr int kMeasurementSchema = 1;

struct MeasuredOutput {
    Output output;
    /// A second run, at other addresses and another time, left the same bits.
    bool is_reproducible = false;
};

struct MeasuredLaunch {
    std::string file, kernel;
    sass::Dim3 grid, block;
    std::uint32_t shared_bytes = 0;
    std::vector<double> first, cold, warm;  ///< microseconds by events; first: one a run
    double sm_mhz = 0;
    std::vector<MeasuredOutput> outputs;
};

/// What a microbenchmark measured of itself, one value a run.
struct MeasuredValue {
    std::string name, unit;
    std::vector<double> values;
};

struct MeasuredCheck {
    std::string output, message;
    bool passed = false;
};

struct MeasuredPair {
    std::string group, workload;
    std::vector<MeasuredLaunch> launches;
    std::vector<MeasuredValue> values;
    std::vector<MeasuredCheck> checks;
    double empty_launch = 0;                    ///< microseconds of a launch that does nothing
    std::map<std::string, std::string> cubins;  ///< SHA-256 by NAME
};

struct Provenance {
    std::string gpu, machine, driver, date, commit, program;
    bool is_sample = false;                   ///< made for tests, not measured
    int cuda_version = 0;                     ///< as the driver says: 1000 * major + 10 * minor
    std::map<std::string, std::string> card;  ///< card_state() before the first pair
    double sm_mhz_rated = 0, memory_mhz_rated = 0, sm_mhz_least = 0, sm_mhz_most = 0;
    unsigned cold_repeats = 0, warm_repeats = 0, runs = 0;
    std::uint64_t seed = 0;

    /// A value of the card's state, empty where it is not known.
    std::string card_value(const std::string& name) const {
        const auto found = card.find(name);
        return found == card.end() ? std::string() : found->second;
    }
};

struct MeasurementFile {
    Provenance provenance;
    std::vector<MeasuredPair> pairs;
    std::vector<std::pair<std::string, std::string>> failures;  ///< workload, why
};

/// The counters of one launch, by Nsight Compute's names.
struct CountedLaunch {
    std::string kernel;
    sass::Dim3 grid, block;
    std::map<std::string, double> metrics;  ///< NaN: the profiler has no value of it
};

struct CountedPair {
    std::string workload;
    std::vector<CountedLaunch> launches;
};

struct CounterFile {
    Provenance provenance;
    std::string cache;                 ///< cold or warm
    std::string profiler;              ///< its version
    std::vector<std::string> metrics;  ///< that it was asked for
    std::vector<CountedPair> pairs;
};

/// One table of the transcendental unit (tables.h).
struct TableEntry {
    TableRange range;
    std::string file, sha256;
};

struct TableIndex {
    Provenance provenance;
    std::vector<TableEntry> tables;
};

nlohmann::ordered_json to_json(const MeasuredPair& pair);
std::string to_text(const MeasurementFile& file);
std::string to_text(const CounterFile& file);
std::string to_text(const TableIndex& index);

/// Throw InputError that names the file and the field that is missing or wrong.
MeasuredPair read_pair(const std::string& text, const std::string& file_name);
MeasurementFile read_measurements(const std::string& text, const std::string& file_name);
CounterFile read_counters(const std::string& text, const std::string& file_name);
TableIndex read_table_index(const std::string& text, const std::string& file_name);
/// "measurements" or "counters".
std::string kind_of(const std::string& text, const std::string& file_name);

}  // namespace lockstep::validation
