// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/coverage/page.h"

#include <algorithm>

#include "sim/error/error.h"
#include "workloads/network/coverage/samples.h"
#include "workloads/network/decompose/decompose.h"
#include "workloads/network/gpu/lowering.h"
#include "workloads/network/gpu/prepare.h"
#include "workloads/network/reference/fold.h"
#include "workloads/network/tpu/operators.h"
#include "workloads/network/tpu/prepare.h"

namespace lockstep::network::coverage {

namespace {

void add_once(std::vector<Operator>& list, Operator op) {
    if (std::find(list.begin(), list.end(), op) == list.end()) list.push_back(op);
}

std::string names_of(const std::vector<Operator>& list) {
    std::string names;
    for (const Operator op : list) names += (names.empty() ? "" : ", ") + std::string(name_of(op));
    return names;
}

/// The operators that a composite one is written with.
std::vector<Operator> parts_of(Operator op) {
    std::vector<Operator> parts;
    for (const Node& node : sample_of(op).nodes)
        if (node.name.starts_with(kSampleName)) add_once(parts, node.op);
    return parts;
}

std::string text_of(Operator op, const Verdict& verdict) {
    if (!verdict.runs) return "no: " + verdict.reason;
    std::string text;
    if (!verdict.as.empty())
        text = verdict.as == std::vector{op} ? "core" : "core, as " + names_of(verdict.as);
    if (!verdict.reason.empty())
        text += fmt::format("{}host: {}", text.empty() ? "" : "; ", verdict.reason);
    return text.empty() ? "nothing is left to do" : text;
}

/// Conversions between the forms of a value belong to no operator.
bool is_conversion(const Node& node) {
    return node.op == Operator::kQuantizeLinear || node.op == Operator::kDequantizeLinear;
}

}  // namespace

Verdict verdict_of(Operator op, const TpuTarget& target) {
    Verdict verdict;
    const bool has_host = target.generation == 1;
    try {
        const TpuNetwork network = prepare_for_tpu(sample_of(op), target.generation, {}, 1, false);
        verdict.runs = true;
        for (const Node& node : network.graph.nodes) {
            const bool is_sample = node.name.find(kSampleName) != std::string::npos;
            if (!is_sample || (is_conversion(node) && node.op != op)) continue;
            const compile::Reason reason = lowering::can_lower({network.graph, target, node});
            if (!reason) {
                add_once(verdict.as, node.op);
                continue;
            }
            verdict.runs &= has_host;
            if (verdict.reason.empty())
                verdict.reason =
                    node.op == op ? *reason : fmt::format("{} ({})", *reason, name_of(node.op));
        }
    } catch (const InputError& error) {
        verdict.reason = error.what();
    }
    return verdict;
}

std::string gpu_text_of(Operator op) {
    const auto refused = [](const std::string& reason) { return "no: " + reason; };
    Graph graph = sample_of(op);
    try {
        simplify(graph);
        gpu::legalise(graph);
    } catch (const InputError& error) {
        return refused(error.what());
    }
    std::vector<Operator> as;
    for (const Node& node : graph.nodes) {
        if (node.name.find(kSampleName) == std::string::npos) continue;
        if (const auto reason = gpu::reason_of(graph, node, gpu::Precision::kFp32))
            return refused(node.op == op ? *reason
                                         : fmt::format("{} ({})", *reason, name_of(node.op)));
        add_once(as, node.op);
    }
    if (as.empty()) return "nothing is left to do";
    return as == std::vector{op} ? "kernel" : "kernel, as " + names_of(as);
}

std::string operators_page() {
    std::string page =
        "# Operators by machine\n"
        "Made from workloads/network/graph/operators.table and the compilers' tables by a small "
        "network "
        "for each operator (coverage/samples.cpp); do not edit.\n\n"
        "`core`: the machine's own instructions, as the operators that its compiler writes it "
        "with. `kernel`: launches of our kernels. `host`: generation 1 leaves it to its host, and "
        "why. What a sample shows holds for "
        "its form of the operator: other attributes, ranks or computed operands may be refused, "
        "and are then named.\n\n"
        "| operator | reference | GPUs | tpu_v1 | tpu_v2 and later |\n|---|---|---|---|---|\n";
    for (std::size_t i = 0; i < operator_count(); ++i) {
        const auto op = static_cast<Operator>(i);
        const std::string reference =
            info_of(op).is_composite ? "with " + names_of(parts_of(op)) : "yes";
        if (op == Operator::kConstant) {
            page +=
                "| Constant | a value when the network is read | as reference | as reference | as "
                "reference |\n";
            continue;
        }
        std::string row = fmt::format("| {} | {} | {} |", name_of(op), reference, gpu_text_of(op));
        for (const int generation : {1, 2}) {
            TpuTarget target{.generation = generation, .limits = {}};
            row += fmt::format(" {} |", text_of(op, verdict_of(op, target)));
        }
        page += row + "\n";
    }
    return page;
}

}  // namespace lockstep::network::coverage
