// SPDX-License-Identifier: Apache-2.0
// Binding one semantics on either datapath. The uniform datapath executes the same operations as
// the vector one, on registers that hold one value for the warp: fields lie at the same bits,
// register fields are 6 bits wide and predicates are UP0-UP6. A bind function written against
// Datapath therefore serves IADD3 and UIADD3 alike.
#pragma once

#include "isa/sass/binder.h"

namespace lockstep::sass {

class Datapath {
  public:
    Datapath(Binder& binder, bool uniform)
        : word(binder.word), out(binder.out), binder_(binder), uniform_(uniform) {}

    const Word& word;
    Instruction& out;

    void dest(unsigned rows = 1) {
        out.d = uniform_ ? binder_.dest_uniform(16, rows) : binder_.dest_register(16, rows);
    }
    void source_b(SourceWidth width = SourceWidth::k32) {
        if (uniform_)
            binder_.uniform_source_b(width);
        else
            binder_.source_b(width);
    }
    void sources_ab(SourceWidth width = SourceWidth::k32) {
        if (uniform_)
            binder_.uniform_sources_ab(width);
        else
            binder_.sources_ab(width);
    }
    void sources_abc(SourceWidth a = SourceWidth::k32, SourceWidth b = SourceWidth::k32,
                     SourceWidth c = SourceWidth::k32) {
        if (uniform_)
            binder_.uniform_sources_abc(a, b, c);
        else
            binder_.sources_abc(a, b, c);
    }
    /// A register at an 8-bit field (6 bits on the uniform datapath).
    Operand source(unsigned bit, unsigned rows = 1) {
        return uniform_ ? binder_.source_uniform(bit, rows) : binder_.source_register(bit, rows);
    }
    /// A source predicate: three bits and, above them, negation.
    PredicateSource predicate(unsigned bit) {
        return uniform_ ? binder_.source_uniform_predicate(bit, bit + 3)
                        : binder_.source_predicate(bit, bit + 3);
    }
    std::uint8_t dest_predicate(unsigned bit) {
        return uniform_ ? binder_.dest_uniform_predicate(bit) : binder_.dest_predicate(bit);
    }
    Operand literal(std::uint32_t value) { return binder_.literal(value); }
    bool is_immediate() const { return binder_.flexible_is_immediate(); }
    bool uniform() const { return uniform_; }

    /// Sets the handler; true, so that a bind function can end with it.
    bool execute(Execute handler) {
        if (uniform_)
            binder_.execute_uniformly(handler);
        else
            out.execute = handler;
        return true;
    }

  private:
    Binder& binder_;
    bool uniform_;
};

/// Makes Bind functions of one that binds on a Datapath.
template <bool (*bind)(Datapath)>
bool on_vector(Binder& binder) {
    return bind(Datapath(binder, false));
}
template <bool (*bind)(Datapath)>
bool on_uniform(Binder& binder) {
    return bind(Datapath(binder, true));
}

}  // namespace lockstep::sass
