// SPDX-License-Identifier: Apache-2.0
// The same cubin runs on both sides: sine and cosine are multiplied by 1 / 2 pi in front of the
// unit, so that a difference may be the multiplication's too.
#include "validation/compare/mufu_tables.h"

#include <bit>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "isa/cubin/cubin.h"
#include "models/device.h"
#include "sim/error/error.h"
#include "sim/stats/sha256.h"
#include "validation/compare/comparison.h"
#include "validation/measure/probe_images.h"
#include "workloads/cuda/launcher.h"

namespace lockstep::validation {

namespace {

namespace fs = std::filesystem;

constexpr unsigned kThreads = 256;

std::string read_file(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw InputError(fmt::format("{}: cannot be read", path.string()));
    return {std::istreambuf_iterator<char>(file), {}};
}

/// As a distance on the line of all numbers.
std::int64_t ordered(float x) {
    const auto bits = std::bit_cast<std::int32_t>(x);
    return bits < 0 ? -std::int64_t{bits & 0x7fffffff} : bits;
}

}  // namespace

std::vector<MufuTable> find_mufu_tables(const std::string& folder) {
    const fs::path index = fs::path(folder) / "tables" / "index.json";
    if (!fs::exists(index)) return {};
    const TableIndex content = read_table_index(read_file(index), index.string());
    std::vector<MufuTable> tables;
    for (const TableEntry& entry : content.tables)
        tables.push_back({entry.range, content.provenance,
                          (index.parent_path() / entry.file).string(), entry.sha256});
    return tables;
}

std::vector<float> read_mufu_table(const MufuTable& table) {
    const std::string bytes = read_file(table.file);
    if (stats::sha256(std::as_bytes(std::span(bytes))) != table.sha256)
        throw InputError(fmt::format("{}: its SHA-256 is not the one in index.json", table.file));
    return expand_table(table.range, bytes, table.file);
}

Row compare_mufu_table(const MufuTable& table, const config::Machine& machine) {
    const std::vector<float> silicon = read_mufu_table(table);
    const auto count = static_cast<int>(silicon.size());
    const auto device = make_emulator(config::Machine::load(std::string(machine.name())), {});
    const auto image = probe_image(static_cast<int>(machine.integer("arch")));
    const ModuleHandle module = device->load_module(cubin::parse(image, "probes.cubin (built in)"));
    const cuda::Array<float> out{device->allocate(silicon.size() * sizeof(float)), silicon.size()};
    if (out.address == 0) throw InputError("the machine's memory is too small for the table");
    const cuda::Arguments arguments(out, static_cast<int>(table.range.first_bits), count);
    LaunchRequest request;
    request.module = module;
    request.kernel = "table_" + table.range.function;
    request.grid = {(static_cast<unsigned>(count) + kThreads - 1) / kThreads};
    request.block = {kThreads};
    request.parameters = arguments.bytes();
    device->launch(request);

    std::size_t equal = 0, first = silicon.size();
    std::int64_t most = 0;
    for (std::size_t i = 0; i < silicon.size(); ++i) {
        const float ours = out.view()[i];
        if (std::bit_cast<std::uint32_t>(ours) == std::bit_cast<std::uint32_t>(silicon[i])) {
            ++equal;
            continue;
        }
        if (first == silicon.size()) first = i;
        most = std::max(most, std::abs(ordered(ours) - ordered(silicon[i])));
    }
    std::string note = table.provenance.is_sample ? "SAMPLE" : "";
    if (first < silicon.size())
        note += fmt::format(
            "{}at most {} units in the last place off; first at {:#010x}: silicon {:#010x}, ours "
            "{:#010x}",
            note.empty() ? "" : "; ", most, table.range.first_bits + first,
            std::bit_cast<std::uint32_t>(silicon[first]),
            std::bit_cast<std::uint32_t>(float{out.view()[first]}));
    return {.name = "mufu_" + table.range.function,
            .quantity = "mufu_results",
            .reference = static_cast<double>(count),
            .simulated = static_cast<double>(equal),
            .unit = "equal",
            .source = source_of(table.provenance, "results"),
            .part = Part::kTest,
            .note = note,
            .group = "mufu"};
}

}  // namespace lockstep::validation
