// SPDX-License-Identifier: Apache-2.0
// The stored form of measurements.
#include "validation/measure/record.h"

#include <cmath>

#include "sim/error/error.h"
#include "validation/measure/json_field.h"

namespace lockstep::validation {

namespace {

Json to_json(sass::Dim3 size) {
    return {size.x, size.y, size.z};
}

Json to_json(const Provenance& p) {
    Json card = Json::object();
    for (const auto& [name, value] : p.card) card[name] = value;
    return {
        {"gpu", p.gpu},
        {"machine", p.machine},
        {"driver", p.driver},
        {"cuda_version", p.cuda_version},
        {"date", p.date},
        {"commit", p.commit},
        {"program", p.program},
        {"sample", p.is_sample},
        {"card", std::move(card)},
        {"sm_mhz", {{"rated", p.sm_mhz_rated}, {"least", p.sm_mhz_least}, {"most", p.sm_mhz_most}}},
        {"memory_mhz_rated", p.memory_mhz_rated},
        {"repeats", {{"cold", p.cold_repeats}, {"warm", p.warm_repeats}, {"runs", p.runs}}},
        {"seed", p.seed}};
}

Provenance read_provenance(const Field& field) {
    Provenance p;
    p.gpu = field["gpu"].text();
    p.machine = field["machine"].text();
    p.driver = field["driver"].text();
    p.cuda_version = field["cuda_version"].count<int>();
    p.date = field["date"].text();
    p.commit = field["commit"].text();
    p.program = field["program"].text();
    p.is_sample = field["sample"].boolean();
    p.card = field["card"].map<std::string>([](const Field& f) { return f.text(); });
    p.sm_mhz_rated = field["sm_mhz"]["rated"].measured();
    p.sm_mhz_least = field["sm_mhz"]["least"].measured();
    p.sm_mhz_most = field["sm_mhz"]["most"].measured();
    p.memory_mhz_rated = field["memory_mhz_rated"].measured();
    p.cold_repeats = field["repeats"]["cold"].count<unsigned>();
    p.warm_repeats = field["repeats"]["warm"].count<unsigned>();
    p.runs = field["repeats"]["runs"].count<unsigned>();
    p.seed = field["seed"].count();
    return p;
}

// What follows is filled member by member: GCC 12 destroys the members of a temporary aggregate
// twice where a later one throws.
MeasuredOutput read_output(const Field& field) {
    MeasuredOutput result;
    result.output.allocation = field["allocation"].count();
    result.output.bytes = field["bytes"].count();
    result.output.sha256 = field["sha256"].digest();
    result.output.value = field["value"].hexadecimal();
    if (!result.output.value.empty() && result.output.value.size() != 2 * result.output.bytes)
        field["value"].fail(
            fmt::format("must have two digits for each of {} bytes, or none", result.output.bytes));
    result.is_reproducible = field["reproducible"].boolean();
    return result;
}

MeasuredCheck read_check(const Field& field) {
    MeasuredCheck check;
    check.output = field["output"].text();
    check.message = field["message"].text();
    check.passed = field["passed"].boolean();
    return check;
}

MeasuredValue read_value(const Field& field) {
    MeasuredValue value;
    value.name = field["name"].text();
    value.unit = field["unit"].text();
    value.values = field["values"].numbers();
    return value;
}

CountedLaunch read_counted_launch(const Field& field) {
    CountedLaunch launch;
    launch.kernel = field["kernel"].text();
    launch.grid = field["grid"].size();
    launch.block = field["block"].size();
    launch.metrics =
        field["metrics"].map<double>([](const Field& f) { return f.measured_or_null(); });
    return launch;
}

CountedPair read_counted_pair(const Field& field) {
    CountedPair pair;
    pair.workload = field["workload"].text();
    pair.launches = field["launches"].list<CountedLaunch>(read_counted_launch);
    return pair;
}

MeasuredLaunch read_launch(const Field& field) {
    MeasuredLaunch launch;
    launch.file = field["file"].text();
    launch.kernel = field["kernel"].text();
    launch.grid = field["grid"].size();
    launch.block = field["block"].size();
    launch.shared_bytes = field["shared_bytes"].count<std::uint32_t>();
    launch.first = field["event_us"]["first"].times();
    launch.cold = field["event_us"]["cold"].times();
    launch.warm = field["event_us"]["warm"].times();
    launch.sm_mhz = field["sm_mhz"].measured();
    launch.outputs = field["outputs"].list<MeasuredOutput>(read_output);
    return launch;
}

MeasuredPair read_pair(const Field& field) {
    MeasuredPair pair;
    pair.group = field["group"].text();
    pair.workload = field["workload"].text();
    pair.empty_launch = field["empty_launch_us"].measured();
    pair.cubins = field["cubins"].map<std::string>([](const Field& f) { return f.digest(); });
    pair.checks = field["checks"].list<MeasuredCheck>(read_check);
    pair.values = field["values"].list<MeasuredValue>(read_value);
    pair.launches = field["launches"].list<MeasuredLaunch>(read_launch);
    return pair;
}

void check_header(const Field& root, const char* kind) {
    if (root["schema"].count() != kMeasurementSchema)
        root["schema"].fail(fmt::format("must be {}", kMeasurementSchema));
    if (root["kind"].text() != kind) root["kind"].fail(fmt::format("must be {}", kind));
}

std::string dump(const Json& json) {
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

Json to_json(const MeasuredPair& pair) {
    Json checks = Json::array(), values = Json::array(), launches = Json::array();
    for (const MeasuredCheck& check : pair.checks)
        checks.push_back(
            {{"output", check.output}, {"passed", check.passed}, {"message", check.message}});
    for (const MeasuredValue& value : pair.values)
        values.push_back({{"name", value.name}, {"unit", value.unit}, {"values", value.values}});
    for (const MeasuredLaunch& launch : pair.launches) {
        Json outputs = Json::array();
        for (const MeasuredOutput& output : launch.outputs)
            outputs.push_back({{"allocation", output.output.allocation},
                               {"bytes", output.output.bytes},
                               {"sha256", output.output.sha256},
                               {"value", output.output.value},
                               {"reproducible", output.is_reproducible}});
        launches.push_back(
            {{"file", launch.file},
             {"kernel", launch.kernel},
             {"grid", to_json(launch.grid)},
             {"block", to_json(launch.block)},
             {"shared_bytes", launch.shared_bytes},
             {"event_us", {{"first", launch.first}, {"cold", launch.cold}, {"warm", launch.warm}}},
             {"sm_mhz", launch.sm_mhz},
             {"outputs", std::move(outputs)}});
    }
    Json cubins = Json::object();
    for (const auto& [name, digest] : pair.cubins) cubins[name] = digest;
    return {{"group", pair.group}, {"workload", pair.workload},
            {"cubins", cubins},    {"empty_launch_us", pair.empty_launch},
            {"checks", checks},    {"values", values},
            {"launches", launches}};
}

std::string to_text(const MeasurementFile& file) {
    Json pairs = Json::array(), failures = Json::array();
    for (const MeasuredPair& pair : file.pairs) pairs.push_back(to_json(pair));
    for (const auto& [workload, why] : file.failures)
        failures.push_back({{"workload", workload}, {"why", why}});
    return dump({{"schema", kMeasurementSchema},
                 {"kind", "measurements"},
                 {"provenance", to_json(file.provenance)},
                 {"pairs", std::move(pairs)},
                 {"failures", std::move(failures)}});
}

std::string to_text(const CounterFile& file) {
    Json pairs = Json::array();
    for (const CountedPair& pair : file.pairs) {
        Json launches = Json::array();
        for (const CountedLaunch& launch : pair.launches) {
            Json metrics = Json::object();
            for (const auto& [name, value] : launch.metrics)
                metrics[name] = std::isnan(value) ? Json(nullptr) : Json(value);
            launches.push_back({{"kernel", launch.kernel},
                                {"grid", to_json(launch.grid)},
                                {"block", to_json(launch.block)},
                                {"metrics", std::move(metrics)}});
        }
        pairs.push_back({{"workload", pair.workload}, {"launches", std::move(launches)}});
    }
    return dump({{"schema", kMeasurementSchema},
                 {"kind", "counters"},
                 {"cache", file.cache},
                 {"profiler", file.profiler},
                 {"metrics", file.metrics},
                 {"provenance", to_json(file.provenance)},
                 {"pairs", std::move(pairs)}});
}

std::string to_text(const TableIndex& index) {
    Json tables = Json::array();
    for (const TableEntry& entry : index.tables)
        tables.push_back({{"function", entry.range.function},
                          {"file", entry.file},
                          {"first_bits", entry.range.first_bits},
                          {"count", entry.range.count},
                          {"sha256", entry.sha256}});
    return dump({{"schema", kMeasurementSchema},
                 {"kind", "tables"},
                 {"provenance", to_json(index.provenance)},
                 {"tables", std::move(tables)}});
}

TableIndex read_table_index(const std::string& text, const std::string& file_name) {
    const Json json = parse(text, file_name);
    const Field root(json, file_name, "");
    check_header(root, "tables");
    TableIndex index;
    index.provenance = read_provenance(root["provenance"]);
    index.tables = root["tables"].list<TableEntry>([](const Field& field) {
        TableEntry entry;
        entry.range.function = field["function"].text();
        entry.range.first_bits = field["first_bits"].count<std::uint32_t>();
        entry.range.count = field["count"].count<int>();
        entry.file = field["file"].text();
        entry.sha256 = field["sha256"].digest();
        const TableRange* known = nullptr;
        for (const TableRange& range : table_ranges())
            if (range.function == entry.range.function) known = &range;
        if (known == nullptr) field["function"].fail("there is no such table");
        if (entry.range.first_bits != known->first_bits) field["first_bits"].fail("is another");
        if (entry.range.count < 1 || entry.range.count > known->count)
            field["count"].fail(fmt::format("must be from 1 to {}", known->count));
        if (entry.file.find('/') != std::string::npos) field["file"].fail("must be a plain name");
        return entry;
    });
    return index;
}

std::string kind_of(const std::string& text, const std::string& file_name) {
    const Json json = parse(text, file_name);
    return Field(json, file_name, "")["kind"].text();
}

MeasuredPair read_pair(const std::string& text, const std::string& file_name) {
    const Json json = parse(text, file_name);
    return read_pair(Field(json, file_name, ""));
}

MeasurementFile read_measurements(const std::string& text, const std::string& file_name) {
    const Json json = parse(text, file_name);
    const Field root(json, file_name, "");
    check_header(root, "measurements");
    MeasurementFile file;
    file.provenance = read_provenance(root["provenance"]);
    file.pairs =
        root["pairs"].list<MeasuredPair>([](const Field& pair) { return read_pair(pair); });
    file.failures = root["failures"].list<std::pair<std::string, std::string>>([](const Field& f) {
        std::pair<std::string, std::string> failure;
        failure.first = f["workload"].text();
        failure.second = f["why"].text();
        return failure;
    });
    return file;
}

CounterFile read_counters(const std::string& text, const std::string& file_name) {
    const Json json = parse(text, file_name);
    const Field root(json, file_name, "");
    check_header(root, "counters");
    CounterFile file;
    file.cache = root["cache"].text();
    if (file.cache != "cold" && file.cache != "warm") root["cache"].fail("must be cold or warm");
    file.profiler = root["profiler"].text();
    file.metrics = root["metrics"].list<std::string>([](const Field& f) { return f.text(); });
    file.provenance = read_provenance(root["provenance"]);
    file.pairs = root["pairs"].list<CountedPair>(read_counted_pair);
    return file;
}

}  // namespace lockstep::validation
