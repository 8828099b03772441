// SPDX-License-Identifier: Apache-2.0
// Matrix products on Eigen whose bits do not depend on where the operands lie. Eigen computes small
// products element by element, in packets from the first aligned address of the result on and one
// by one before it; the two add up in different ways.
#pragma once

#include <Eigen/Core>

#include "workloads/network/reference/threads.h"

namespace lockstep::network::reference {

template <class Real>
using RowMajor = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class Real>
using View = Eigen::Map<const RowMajor<Real>>;
template <class Real>
using Target = Eigen::Map<RowMajor<Real>>;

/// out = a b row by row, sums in the order of k. a and b are views or their transposes.
template <class Real, class A, class B>
void multiply_by_rows(Target<Real> out, const A& a, const B& b) {
    out.setZero();
    for (Eigen::Index i = 0; i < a.rows(); ++i)
        for (Eigen::Index k = 0; k < a.cols(); ++k) out.row(i) += a(i, k) * b.row(k);
}

/// out = a b in Eigen's blocks; shared among threads by rows of the result, or by columns where it
/// has few.
template <class Real, class A, class B>
void multiply(Target<Real> out, const A& a, const B& b) {
    if (a.rows() + a.cols() + b.cols() < EIGEN_GEMM_TO_COEFFBASED_THRESHOLD)
        return multiply_by_rows<Real>(out, a, b);
    constexpr Eigen::Index kRows = 8, kColumns = 64;
    const double work = static_cast<double>(a.rows()) * static_cast<double>(a.cols()) *
                        static_cast<double>(b.cols());
    if (own_threads <= 1)
        out.noalias() = a * b;
    else if (a.rows() >= kRows * own_threads)
        for_ranges(a.rows(), kRows, work, [&](Eigen::Index begin, Eigen::Index end) {
            out.middleRows(begin, end - begin).noalias() = a.middleRows(begin, end - begin) * b;
        });
    else
        for_ranges(b.cols(), kColumns, work, [&](Eigen::Index begin, Eigen::Index end) {
            out.middleCols(begin, end - begin).noalias() = a * b.middleCols(begin, end - begin);
        });
}

}  // namespace lockstep::network::reference
