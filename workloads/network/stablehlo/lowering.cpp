// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/stablehlo/lowering.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <set>

#include "sim/error/error.h"
#include "sim/numerics/random.h"
#include "workloads/network/graph/builder.h"

namespace lockstep::network::stablehlo {

namespace {

constexpr int kMaximumDepth = 64;
/// Of operations, those of loops counted each time: more are no network.
constexpr std::size_t kMaximumOperations = 200'000;

}  // namespace

Lowering::Lowering(const Module& module, const std::string& file, const StablehloOptions& options)
    : FoldingWriter(made_), module_(module), file_(file), options_(options) {}

Graph Lowering::run() {
    const auto main = module_.functions.find("main");
    const Function& function =
        main != module_.functions.end() ? main->second : module_.functions.at(module_.first);
    made_.name = module_.name.empty() ? function.name : module_.name;
    const auto count = static_cast<std::int64_t>(function.body.arguments.size());
    if (options_.weights < 0 || options_.weights > count)
        throw InputError(fmt::format("{}: weights={}, but @{} has {} arguments", file_,
                                     options_.weights, function.name, count));
    std::vector<Wide> arguments;
    for (const Argument& argument : function.body.arguments) {
        const std::string name = argument.name.substr(1);
        const auto index = static_cast<std::int64_t>(arguments.size());
        Value value{name, ValueKind::kInput, argument.type.type, argument.type.shape};
        if (index < options_.weights) {
            if (!is_floating(argument.type.type))
                throw InputError(fmt::format("{}: weights={}, but {} is no floating tensor", file_,
                                             options_.weights, argument.name));
            value.kind = ValueKind::kParameter;
            if (options_.with_values) value.data = weight(argument.type, index);
        }
        const ValueId id = made_.add(std::move(value));
        if (index >= options_.weights) made_.inputs.push_back(id);
        arguments.push_back({id, argument.type.shape});
    }
    const std::vector<Wide> results = inline_region(function.body, arguments);
    if (!unsupported_.empty())
        throw InputError(
            fmt::format("{}: not supported:\n  {}", file_, fmt::join(unsupported_, "\n  ")));
    if (results.empty())
        throw InputError(fmt::format("{}: @{} returns nothing", file_, function.name));
    std::set<ValueId> written;
    for (const Wide& result : results) {
        ValueId id = whole(result);
        // An output is what a node writes, each once.
        if (made_.value(id).kind != ValueKind::kComputed || !written.insert(id).second)
            id = add(Operator::kIdentity, name_for("result"), {id});
        made_.outputs.push_back(id);
    }
    made_.nodes = take();
    validate(made_);
    return std::move(made_);
}

/// As wide as keeps values their size from layer to layer; the last dimension is the outputs'.
std::shared_ptr<const Tensor> Lowering::weight(const TensorType& wanted, std::int64_t index) const {
    std::int64_t fan_in = element_count(wanted.shape);
    if (wanted.shape.size() > 1) fan_in /= std::max<std::int64_t>(1, wanted.shape.back());
    const float spread = std::sqrt(3.0f / static_cast<float>(std::max<std::int64_t>(1, fan_in)));
    const std::uint64_t stream =
        numerics::mix(numerics::mix(options_.seed) + static_cast<std::uint64_t>(index));
    const Tensor values = seeded_tensor(wanted.shape, stream, spread, 0);
    return std::make_shared<const Tensor>(
        from_floats(wanted.type, wanted.shape, values.as<float>()));
}

std::string Lowering::base_name() const {
    if (current_ == nullptr) return "value";
    const std::string& op = current_->name;
    const std::string name = op.substr(op.rfind('.') + 1);
    return current_->results.empty() ? name : name + "_" + current_->results[0].substr(1);
}

const Wide& Lowering::operand(const Operation& op, std::size_t i) const {
    if (i >= op.operands.size())
        throw Refusal{fmt::format("{} operands where {} are expected", op.operands.size(), i + 1)};
    for (std::size_t scope = scopes_.size(); scope-- > visible_;) {
        const auto found = scopes_[scope].find(op.operands[i]);
        if (found == scopes_[scope].end()) continue;
        if (found->second.id == kNoValue) throw Refusal{};  // said already
        return found->second;
    }
    throw InputError(
        fmt::format("{}:{}: {} is used before it is written", file_, op.line, op.operands[i]));
}

ValueId Lowering::whole(const Wide& wide) {
    if (shape(wide.id) == wide.shape) return wide.id;
    const auto [found, is_new] = expanded_.try_emplace({wide.id, wide.shape}, kNoValue);
    if (is_new) {
        const ValueId target =
            constant(name_for("shape"), make_tensor({static_cast<std::int64_t>(wide.shape.size())},
                                                    std::span<const std::int64_t>(wide.shape)));
        found->second = make(Operator::kExpand, "broadcast", {wide.id, target});
    }
    return found->second;
}

void Lowering::set(const Operation& op, std::size_t i, ValueId id) {
    const TensorType& wanted = op.result_types.at(i);
    const Shape& found = shape(id);
    bool fits = type(id) == wanted.type && found.size() == wanted.shape.size();
    for (std::size_t axis = 0; fits && axis < found.size(); ++axis)
        fits = found[axis] == wanted.shape[axis] || found[axis] == 1;
    if (!fits)
        throw Refusal{fmt::format("its result is {}{}, not {}{} as it says", name_of(type(id)),
                                  to_string(found), name_of(wanted.type), to_string(wanted.shape))};
    scopes_.back()[op.results.at(i)] = {id, wanted.shape};
}

void Lowering::set_all(const Operation& op, const std::vector<Wide>& values) {
    if (values.size() != op.results.size())
        throw Refusal{fmt::format("{} results of {}", op.results.size(), values.size())};
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (values[i].id == kNoValue || values[i].shape != op.result_types[i].shape)
            throw Refusal{values[i].id == kNoValue ? "" : "results of another shape than it says"};
        set(op, i, values[i].id);
    }
}

std::vector<Wide> Lowering::inline_region(const Region& region,
                                          const std::vector<Wide>& arguments) {
    if (arguments.size() != region.arguments.size())
        throw Refusal{fmt::format("{} arguments where {} are expected", arguments.size(),
                                  region.arguments.size())};
    Scope scope;
    for (std::size_t i = 0; i < arguments.size(); ++i)
        scope[region.arguments[i].name] = arguments[i];
    scopes_.push_back(std::move(scope));
    const Operation* const outside = current_;
    lower_all(region);
    current_ = outside;
    scopes_.pop_back();
    return std::move(returned_);
}

std::vector<Wide> Lowering::inline_function(std::string_view name,
                                            const std::vector<Wide>& arguments) {
    const auto function = module_.functions.find(name);
    if (function == module_.functions.end()) throw Refusal{fmt::format("no function @{}", name)};
    if (++depth_ > kMaximumDepth) throw Refusal{"functions that call themselves"};
    const std::size_t outside = visible_;
    visible_ = scopes_.size();
    std::vector<Wide> results = inline_region(function->second.body, arguments);
    visible_ = outside;
    --depth_;
    return results;
}

void Lowering::lower_all(const Region& region) {
    returned_.clear();
    for (const Operation& op : region.operations) {
        current_ = &op;
        if (op.name == "stablehlo.return" || op.name == "return" || op.name == "func.return") {
            std::vector<Wide> values;
            for (std::size_t i = 0; i < op.operands.size(); ++i) {
                try {
                    values.push_back(operand(op, i));
                } catch (const Refusal&) {
                    values.push_back({});
                }
            }
            returned_ = std::move(values);
            return;
        }
        lower(op);
    }
}

void Lowering::lower(const Operation& op) {
    static const Family kAll = [] {
        Family all;
        for (const Family* family : {&elementwise_family(), &movement_family(), &product_family(),
                                     &reduction_family(), &control_family()})
            all.insert(family->begin(), family->end());
        return all;
    }();
    if (++operations_ > kMaximumOperations)
        throw InputError(
            fmt::format("{}:{}: more than {} operations, those of loops counted each "
                        "time",
                        file_, op.line, kMaximumOperations));
    const std::size_t scopes = scopes_.size();
    const std::size_t visible = visible_;
    const int depth = depth_;
    std::string reason;
    try {
        std::string_view name = op.name;
        if (name == "func.call") name = "call";
        const auto found = kAll.find(name);
        for (std::size_t i = 0; i < op.operands.size(); ++i) operand(op, i);
        if (found == kAll.end()) throw Refusal{"is not supported"};
        if (op.results.empty()) throw Refusal{"has no result"};
        found->second(*this, op);
        return;
    } catch (const Refusal& refusal) {
        reason = refusal.reason;
    } catch (const InputError& error) {
        const std::string_view what = error.what();
        if (what.starts_with(file_)) throw;
        reason = what;
    }
    scopes_.resize(scopes);
    visible_ = visible;
    depth_ = depth;
    current_ = &op;
    for (const std::string& result : op.results) scopes_.back()[result] = {};
    if (reason.empty()) return;
    const std::string line = fmt::format("line {}: {}: {}", op.line, op.name, reason);
    if (std::ranges::find(unsupported_, line) == unsupported_.end()) unsupported_.push_back(line);
}

}  // namespace lockstep::network::stablehlo

namespace lockstep::network {

Graph parse_stablehlo(std::string_view text, const std::string& name,
                      const StablehloOptions& options) {
    const stablehlo::Module module = stablehlo::parse_module(text, name);
    return stablehlo::Lowering(module, name, options).run();
}

Graph read_stablehlo(const std::filesystem::path& file, const StablehloOptions& options) {
    std::ifstream stream(file, std::ios::binary);
    if (!stream || !std::filesystem::is_regular_file(file))
        throw InputError(fmt::format("{}: cannot be read", file.string()));
    const std::string text{std::istreambuf_iterator<char>(stream),
                           std::istreambuf_iterator<char>()};
    return parse_stablehlo(text, file.string(), options);
}

}  // namespace lockstep::network
