// SPDX-License-Identifier: Apache-2.0
// From StableHLO's operations to the graph's operators. StableHLO broadcasts by operations of their
// own, the graph's elementwise operators by themselves: a broadcast value stays as it is, with
// extents of 1, until an operator needs all of its elements.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "workloads/network/stablehlo/folding_writer.h"
#include "workloads/network/stablehlo/reader.h"
#include "workloads/network/stablehlo/syntax.h"

namespace lockstep::network::stablehlo {

/// A value of the module: the graph's has this shape, or 1 in place of some extents.
struct Wide {
    ValueId id = kNoValue;  ///< kNoValue: of an operation that was refused
    Shape shape;
};

class Lowering : public FoldingWriter {
  public:
    Lowering(const Module& module, const std::string& file, const StablehloOptions& options);
    Graph run();

    // What the families of operations are written with.

    const Wide& operand(const Operation& op, std::size_t i) const;
    ElementType type_of(const Wide& wide) const { return type(wide.id); }
    /// The value with all its elements.
    ValueId whole(const Wide& wide);
    ValueId whole(const Operation& op, std::size_t i) { return whole(operand(op, i)); }
    void set(const Operation& op, std::size_t i, ValueId id);
    void set(const Operation& op, ValueId id) { set(op, 0, id); }

    // Regions and functions.
    /// Lowers a region with these arguments; gives what it returns.
    std::vector<Wide> inline_region(const Region& region, const std::vector<Wide>& arguments);
    std::vector<Wide> inline_function(std::string_view name, const std::vector<Wide>& arguments);
    void set_all(const Operation& op, const std::vector<Wide>& values);

    /// Sums, by windows or over dimensions, for the division that makes averages of them.
    struct Sums {
        std::function<ValueId(bool)> averages;  ///< padding counted in, or not
        double window;                          ///< elements of a sum, padding counted in
        Tensor counts;                          ///< of each sum, padding not counted in
    };
    std::map<ValueId, Sums> sums;

  private:
    using Scope = std::map<std::string, Wide, std::less<>>;

    std::string base_name() const override;
    void lower_all(const Region& region);
    void lower(const Operation& op);
    std::shared_ptr<const Tensor> weight(const TensorType& wanted, std::int64_t index) const;

    const Module& module_;
    const std::string& file_;
    const StablehloOptions& options_;
    Graph made_;
    std::vector<Scope> scopes_;
    std::size_t visible_ = 0;  ///< scopes before this one are another function's
    std::vector<Wide> returned_;
    const Operation* current_ = nullptr;
    std::map<std::pair<ValueId, Shape>, ValueId> expanded_;
    std::vector<std::string> unsupported_;
    int depth_ = 0;
    std::size_t operations_ = 0;
};

// Attributes of operations.
Integers integers_of(const AttributeValue& value);
Integers integers(const Operation& op, std::string_view name, Integers otherwise = {});
std::string text(const Operation& op, std::string_view name);
const AttributeValue* find(const Operation& op, std::string_view name);

/// One operation by one function.
using Lower = void (*)(Lowering&, const Operation&);
using Family = std::map<std::string_view, Lower>;
const Family& elementwise_family();
const Family& movement_family();
const Family& product_family();
const Family& reduction_family();
const Family& control_family();

}  // namespace lockstep::network::stablehlo
