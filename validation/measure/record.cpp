// SPDX-License-Identifier: Apache-2.0
// The stored form of measurements. Reading goes through Field, which knows where in which file it
// stands, so that an error names both.
#include "validation/measure/record.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "sim/error/error.h"

namespace lockstep::validation {

namespace {

using Json = nlohmann::ordered_json;

class Field {
  public:
    Field(const Json& json, std::string file, std::string path)
        : json_(json), file_(std::move(file)), path_(std::move(path)) {}

    [[noreturn]] void fail(const std::string& why) const {
        throw InputError(fmt::format("{}: {}: {}", file_, path_.empty() ? "the file" : path_, why));
    }
    Field operator[](const std::string& key) const {
        if (!json_.is_object()) fail("must be an object");
        const auto found = json_.find(key);
        const std::string path = path_.empty() ? key : path_ + "." + key;
        if (found == json_.end()) Field(json_, file_, path).fail("is missing");
        return {*found, file_, path};
    }
    std::string text() const {
        if (!json_.is_string()) fail("must be a text");
        return json_.get<std::string>();
    }
    bool boolean() const {
        if (!json_.is_boolean()) fail("must be true or false");
        return json_.get<bool>();
    }
    double number() const {
        if (!json_.is_number()) fail("must be a number");
        return json_.get<double>();
    }
    double number_or_null() const {
        return json_.is_null() ? std::numeric_limits<double>::quiet_NaN() : number();
    }
    std::uint64_t count() const {
        if (!json_.is_number_unsigned()) fail("must be a whole number");
        return json_.get<std::uint64_t>();
    }
    std::vector<double> numbers() const {
        return list<double>([](const Field& field) { return field.number(); });
    }
    sass::Dim3 size() const {
        const auto all = list<std::uint64_t>([](const Field& field) { return field.count(); });
        if (all.size() != 3) fail("must have three numbers");
        for (const std::uint64_t n : all)
            if (n == 0 || n > 0xffffffff) fail("must be from 1 to 2^32 - 1");
        return {static_cast<std::uint32_t>(all[0]), static_cast<std::uint32_t>(all[1]),
                static_cast<std::uint32_t>(all[2])};
    }
    std::string digest() const {
        const std::string value = text();
        if (value.size() != 64 || value.find_first_not_of("0123456789abcdef") != std::string::npos)
            fail("must be a SHA-256 of 64 hexadecimal digits");
        return value;
    }
    template <class T, class Read>
    std::vector<T> list(const Read& read) const {
        if (!json_.is_array()) fail("must be a list");
        std::vector<T> all;
        for (std::size_t i = 0; i < json_.size(); ++i)
            all.push_back(read(Field(json_[i], file_, fmt::format("{}[{}]", path_, i))));
        return all;
    }
    template <class T, class Read>
    std::map<std::string, T> map(const Read& read) const {
        if (!json_.is_object()) fail("must be an object");
        std::map<std::string, T> all;
        for (const auto& [key, value] : json_.items())
            all.emplace(key, read(Field(value, file_, path_ + "." + key)));
        return all;
    }

  private:
    const Json& json_;
    std::string file_, path_;
};

Json parse(const std::string& text, const std::string& file_name) {
    try {
        return Json::parse(text);
    } catch (const Json::parse_error& error) {
        throw InputError(
            fmt::format("{}: offset {}: not whole JSON: {}", file_name, error.byte, error.what()));
    } catch (const Json::exception& error) {  // as of a number beyond a double's range
        throw InputError(fmt::format("{}: not usable JSON: {}", file_name, error.what()));
    }
}

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
    p.cuda_version = static_cast<int>(field["cuda_version"].count());
    p.date = field["date"].text();
    p.commit = field["commit"].text();
    p.program = field["program"].text();
    p.is_sample = field["sample"].boolean();
    p.card = field["card"].map<std::string>([](const Field& f) { return f.text(); });
    p.sm_mhz_rated = field["sm_mhz"]["rated"].number();
    p.sm_mhz_least = field["sm_mhz"]["least"].number();
    p.sm_mhz_most = field["sm_mhz"]["most"].number();
    p.memory_mhz_rated = field["memory_mhz_rated"].number();
    p.cold_repeats = static_cast<unsigned>(field["repeats"]["cold"].count());
    p.warm_repeats = static_cast<unsigned>(field["repeats"]["warm"].count());
    p.runs = static_cast<unsigned>(field["repeats"]["runs"].count());
    p.seed = field["seed"].count();
    return p;
}

MeasuredLaunch read_launch(const Field& field) {
    MeasuredLaunch launch;
    launch.file = field["file"].text();
    launch.kernel = field["kernel"].text();
    launch.grid = field["grid"].size();
    launch.block = field["block"].size();
    launch.shared_bytes = static_cast<std::uint32_t>(field["shared_bytes"].count());
    launch.first = field["event_us"]["first"].numbers();
    launch.cold = field["event_us"]["cold"].numbers();
    launch.warm = field["event_us"]["warm"].numbers();
    launch.sm_mhz = field["sm_mhz"].number();
    launch.outputs = field["outputs"].list<MeasuredOutput>([](const Field& output) {
        return MeasuredOutput{{output["allocation"].count(), output["bytes"].count(),
                               output["sha256"].digest(), output["value"].text()},
                              output["reproducible"].boolean()};
    });
    return launch;
}

MeasuredPair read_pair(const Field& field) {
    MeasuredPair pair;
    pair.group = field["group"].text();
    pair.workload = field["workload"].text();
    pair.empty_launch = field["empty_launch_us"].number();
    pair.cubins = field["cubins"].map<std::string>([](const Field& f) { return f.digest(); });
    pair.checks = field["checks"].list<MeasuredCheck>([](const Field& check) {
        return MeasuredCheck{check["output"].text(), check["message"].text(),
                             check["passed"].boolean()};
    });
    pair.values = field["values"].list<MeasuredValue>([](const Field& value) {
        return MeasuredValue{value["name"].text(), value["unit"].text(), value["values"].numbers()};
    });
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
    TableIndex index{read_provenance(root["provenance"]), {}};
    index.tables = root["tables"].list<TableEntry>([](const Field& field) {
        TableEntry entry{
            {field["function"].text(), static_cast<std::uint32_t>(field["first_bits"].count()),
             static_cast<int>(field["count"].count())},
            field["file"].text(),
            field["sha256"].digest()};
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
    file.failures = root["failures"].list<std::pair<std::string, std::string>>(
        [](const Field& f) { return std::pair(f["workload"].text(), f["why"].text()); });
    return file;
}

CounterFile read_counters(const std::string& text, const std::string& file_name) {
    const Json json = parse(text, file_name);
    const Field root(json, file_name, "");
    check_header(root, "counters");
    CounterFile file;
    file.cache = root["cache"].text();
    file.profiler = root["profiler"].text();
    file.metrics = root["metrics"].list<std::string>([](const Field& f) { return f.text(); });
    file.provenance = read_provenance(root["provenance"]);
    file.pairs = root["pairs"].list<CountedPair>([](const Field& pair) {
        return CountedPair{
            pair["workload"].text(), pair["launches"].list<CountedLaunch>([](const Field& launch) {
                return CountedLaunch{launch["kernel"].text(), launch["grid"].size(),
                                     launch["block"].size(),
                                     launch["metrics"].map<double>(
                                         [](const Field& f) { return f.number_or_null(); })};
            })};
    });
    return file;
}

}  // namespace lockstep::validation
