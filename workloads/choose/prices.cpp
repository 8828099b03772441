// SPDX-License-Identifier: Apache-2.0
#include "workloads/choose/prices.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "sim/config/machine.h"
#include "sim/error/error.h"
#include "validation/published/published.h"

namespace lockstep::choose {

Prices Prices::built_in() {
    return {"prices.csv", prices_csv()};
}

Prices Prices::read(const std::string& file) {
    std::ifstream stream(file, std::ios::binary);
    std::ostringstream text;
    if (!stream || !(text << stream.rdbuf()))
        throw InputError(fmt::format("{}: cannot be read", file));
    return {file, text.str()};
}

Prices::Prices(std::string_view name, std::string_view text) {
    const validation::Table table(name, text);
    const std::vector<std::string> machines = config::Machine::names();
    for (const char* column : {"machine", "kind", "usd", "date", "offer"})
        if (!table.has(column))
            throw InputError(fmt::format("{}: there is no column {}", name, column));
    for (std::size_t i = 0; i < table.rows(); ++i) {
        Row row{table.text(i, "machine"),
                table.text(i, "kind"),
                {table.number(i, "usd"), table.text(i, "date"), table.text(i, "offer")}};
        if (std::ranges::count(machines, row.machine) == 0)
            throw InputError(
                fmt::format("{}: row {}: no machine named {}", name, i + 1, row.machine));
        if (row.kind != "hour" && row.kind != "buy")
            throw InputError(fmt::format("{}: row {}: kind '{}' is neither hour nor buy", name,
                                         i + 1, row.kind));
        if (!(row.price.usd > 0))
            throw InputError(fmt::format("{}: row {}: a price of {}", name, i + 1, row.price.usd));
        rows_.push_back(std::move(row));
    }
}

std::optional<Price> Prices::lowest(std::string_view machine, std::string_view kind) const {
    std::optional<Price> found;
    for (const Row& row : rows_)
        if (row.machine == machine && row.kind == kind && (!found || row.price.usd < found->usd))
            found = row.price;
    return found;
}

}  // namespace lockstep::choose
