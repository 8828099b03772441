// SPDX-License-Identifier: Apache-2.0
// The parts of a dot-product unit, each an sc_module with a register behind it. Only step.cpp
// includes it: SystemC is slow to compile.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <systemc>
#include <vector>

#include "models/gpu/tensor_core/number.h"
#include "models/gpu/tensor_core/step.h"
#include "sim/numerics/fp16.h"
#include "sim/numerics/fp32.h"

namespace lockstep::gpu::tensor_core {

using sc_core::sc_in;
using sc_core::sc_out;
using sc_core::sc_signal;
using Significand = std::int64_t;

/// Exact: 11 bits by 11 bits.
class Multiplier : public sc_core::sc_module {
  public:
    SC_HAS_PROCESS(Multiplier);
    sc_in<bool> clk{"clk"};
    sc_in<std::uint32_t> a{"a"}, b{"b"};
    sc_out<Significand> product{"product"};
    sc_out<int> exponent{"exponent"};

    Multiplier(const sc_core::sc_module_name& name, NumberFormat format)
        : sc_core::sc_module(name), format_(format) {
        SC_METHOD(cycle);
        sensitive << clk.pos();
        dont_initialize();
    }

  private:
    void cycle() {
        const SplitNumber left = split(format_, a.read()), right = split(format_, b.read());
        const bool is_zero = left.significand == 0 || right.significand == 0;
        product.write(left.significand * right.significand);
        exponent.write(is_zero ? kExponentOfZero : left.exponent + right.exponent);
    }

    const NumberFormat format_;
};

/// The exponent that all terms are aligned to.
class LargestExponent : public sc_core::sc_module {
  public:
    SC_HAS_PROCESS(LargestExponent);
    sc_in<bool> clk{"clk"};
    sc_core::sc_vector<sc_in<int>> exponents;
    sc_out<int> largest{"largest"};

    LargestExponent(const sc_core::sc_module_name& name, std::size_t terms, int least)
        : sc_core::sc_module(name), exponents("exponents", terms), least_(least) {
        SC_METHOD(cycle);
        sensitive << clk.pos();
        dont_initialize();
    }

  private:
    void cycle() {
        int result = least_;
        for (const auto& exponent : exponents) result = std::max(result, exponent.read());
        largest.write(result);
    }

    const int least_;
};

/// Shifts a term to the group's last bit, and drops what is below it.
class Aligner : public sc_core::sc_module {
  public:
    SC_HAS_PROCESS(Aligner);
    sc_in<bool> clk{"clk"};
    sc_in<Significand> significand{"significand"};
    sc_in<int> exponent{"exponent"}, largest{"largest"};
    sc_out<Significand> aligned{"aligned"};

    /// `point`: bits of the significand behind the point; `kept`: of the aligned term.
    Aligner(const sc_core::sc_module_name& name, int point, int kept)
        : sc_core::sc_module(name), shift_(kept - point) {
        SC_METHOD(cycle);
        sensitive << clk.pos();
        dont_initialize();
    }

  private:
    void cycle() {
        const int shift = exponent.read() - largest.read() + shift_;
        aligned.write(shift_and_truncate(significand.read(), shift));
    }

    const int shift_;
};

/// Exact.
class Adder : public sc_core::sc_module {
  public:
    SC_HAS_PROCESS(Adder);
    sc_in<bool> clk{"clk"};
    sc_core::sc_vector<sc_in<Significand>> terms;
    sc_out<Significand> sum{"sum"};

    Adder(const sc_core::sc_module_name& name, std::size_t count)
        : sc_core::sc_module(name), terms("terms", count) {
        SC_METHOD(cycle);
        sensitive << clk.pos();
        dont_initialize();
    }

  private:
    void cycle() {
        Significand total = 0;
        for (const auto& term : terms) total += term.read();
        sum.write(total);
    }
};

/// fp32 by truncation, fp16 to nearest even.
class Rounder : public sc_core::sc_module {
  public:
    SC_HAS_PROCESS(Rounder);
    sc_in<bool> clk{"clk"};
    sc_in<Significand> sum{"sum"};
    sc_in<int> largest{"largest"};
    sc_out<std::uint32_t> result{"result"};

    Rounder(const sc_core::sc_module_name& name, const sass::DotProductRule& rule)
        : sc_core::sc_module(name), rule_(rule) {
        SC_METHOD(cycle);
        sensitive << clk.pos();
        dont_initialize();
    }

  private:
    void cycle() {
        const double value =
            std::ldexp(static_cast<double>(sum.read()), largest.read() - rule_.fraction_bits);
        if (rule_.accumulator == sass::AccumulatorType::kFp16)
            result.write(numerics::fp64_to_fp16(value));
        else if (std::fabs(value) >= 0x1p128)
            result.write(value < 0 ? 0xff800000u : 0x7f800000u);
        else
            result.write(
                numerics::encode<numerics::Fp32Format>(value, numerics::Rounding::kTowardZero));
    }

    const sass::DotProductRule rule_;
};

/// The accumulator on its way in.
class Splitter : public sc_core::sc_module {
  public:
    SC_HAS_PROCESS(Splitter);
    sc_in<bool> clk{"clk"};
    sc_in<std::uint32_t> c{"c"};
    sc_out<Significand> significand{"significand"};
    sc_out<int> exponent{"exponent"};

    Splitter(const sc_core::sc_module_name& name, NumberFormat format)
        : sc_core::sc_module(name), format_(format) {
        SC_METHOD(cycle);
        sensitive << clk.pos();
        dont_initialize();
    }

  private:
    void cycle() {
        const SplitNumber number = split(format_, c.read());
        significand.write(number.significand);
        exponent.write(number.exponent);
    }

    const NumberFormat format_;
};

/// d = c + the sum of `group` products, kStages edges after they stand at its inputs.
class DotProductUnit : public sc_core::sc_module {
  public:
    static constexpr int kStages = 5;  ///< multiply, compare, align, add, round

    sc_in<bool> clk{"clk"};
    sc_core::sc_vector<sc_in<std::uint32_t>> a, b;
    sc_in<std::uint32_t> c{"c"};
    sc_out<std::uint32_t> d{"d"};

    DotProductUnit(const sc_core::sc_module_name& name, const sass::DotProductRule& rule,
                   NumberFormat format, std::size_t group)
        : sc_core::sc_module(name),
          a("a", group),
          b("b", group),
          products_("product", group + 1),
          exponents_("exponent", group + 1),
          aligned_("aligned", group + 1),
          largest_("largest"),
          sum_("sum"),
          maximum_("maximum", group + 1, rule.min_exponent),
          adder_("adder", group + 1),
          rounder_("rounder", rule),
          splitter_("splitter", is_half(rule) ? kFp16Number : kFp32Number) {
        for (std::size_t i = 0; i <= group; ++i) {
            const bool is_addend = i == group;
            if (!is_addend) make_multiplier(i, format);
            const int point = is_addend ? (is_half(rule) ? kFp16Number : kFp32Number).fraction_bits
                                        : 2 * format.fraction_bits;
            make_aligner(i, point, rule.fraction_bits);
            maximum_.exponents[i](exponents_[i]);
            adder_.terms[i](aligned_[i]);
        }
        splitter_.clk(clk);
        splitter_.c(c);
        splitter_.significand(products_[group]);
        splitter_.exponent(exponents_[group]);
        maximum_.clk(clk);
        maximum_.largest(largest_);
        adder_.clk(clk);
        adder_.sum(sum_);
        rounder_.clk(clk);
        rounder_.sum(sum_);
        rounder_.largest(largest_);
        rounder_.result(d);
    }

    TensorGroup look() const {
        TensorGroup group;
        for (std::size_t i = 0; i < products_.size(); ++i) {
            const TensorTerm term{products_[i].read(), exponents_[i].read(), aligned_[i].read()};
            if (i + 1 < products_.size())
                group.products.push_back(term);
            else
                group.addend = term;
        }
        group.largest = largest_.read();
        group.sum = sum_.read();
        group.result = d.read();
        return group;
    }

    void trace(sc_core::sc_trace_file* file) const override {
        const std::string path = std::string(name()) + ".";
        for (std::size_t i = 0; i < products_.size(); ++i) {
            const std::string term =
                i + 1 < products_.size() ? std::to_string(i) : std::string("c");
            sc_core::sc_trace(file, products_[i], path + "significand_" + term);
            sc_core::sc_trace(file, exponents_[i], path + "exponent_" + term);
            sc_core::sc_trace(file, aligned_[i], path + "aligned_" + term);
        }
        sc_core::sc_trace(file, largest_, path + "largest");
        sc_core::sc_trace(file, sum_, path + "sum");
        sc_core::sc_trace(file, *d.operator->(), path + "d");
    }

  private:
    static bool is_half(const sass::DotProductRule& rule) {
        return rule.accumulator == sass::AccumulatorType::kFp16;
    }

    void make_multiplier(std::size_t i, NumberFormat format) {
        auto part =
            std::make_unique<Multiplier>(("multiplier_" + std::to_string(i)).c_str(), format);
        part->clk(clk);
        part->a(a[i]);
        part->b(b[i]);
        part->product(products_[i]);
        part->exponent(exponents_[i]);
        multipliers_.push_back(std::move(part));
    }

    void make_aligner(std::size_t i, int point, int kept) {
        auto part =
            std::make_unique<Aligner>(("aligner_" + std::to_string(i)).c_str(), point, kept);
        part->clk(clk);
        part->significand(products_[i]);
        part->exponent(exponents_[i]);
        part->largest(largest_);
        part->aligned(aligned_[i]);
        aligners_.push_back(std::move(part));
    }

    sc_core::sc_vector<sc_signal<Significand>> products_;
    sc_core::sc_vector<sc_signal<int>> exponents_;
    sc_core::sc_vector<sc_signal<Significand>> aligned_;
    sc_signal<int> largest_;
    sc_signal<Significand> sum_;
    std::vector<std::unique_ptr<Multiplier>> multipliers_;
    std::vector<std::unique_ptr<Aligner>> aligners_;
    LargestExponent maximum_;
    Adder adder_;
    Rounder rounder_;
    Splitter splitter_;
};

}  // namespace lockstep::gpu::tensor_core
