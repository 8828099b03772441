// SPDX-License-Identifier: Apache-2.0
// What machines cost.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::choose {

struct Price {
    double usd = 0;
    std::string date, offer;
};

/// A table like prices.csv.
class Prices {
  public:
    /// The table that is built in.
    static Prices built_in();
    /// A file. Throws InputError with the line where it is malformed or names no machine.
    static Prices read(const std::string& file);
    /// `name` is for messages.
    Prices(std::string_view name, std::string_view text);

    /// The lowest; nothing where there is none.
    std::optional<Price> hour(std::string_view machine) const { return lowest(machine, "hour"); }
    std::optional<Price> card(std::string_view machine) const { return lowest(machine, "buy"); }

  private:
    struct Row {
        std::string machine, kind;
        Price price;
    };
    std::optional<Price> lowest(std::string_view machine, std::string_view kind) const;
    std::vector<Row> rows_;
};

/// The file's text, built in.
std::string_view prices_csv();

}  // namespace lockstep::choose
