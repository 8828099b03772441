// SPDX-License-Identifier: Apache-2.0
// Matrix products on Eigen whose bits do not depend on where the operands lie. Eigen computes small
// products element by element, in packets from the first aligned address of the result on and one
// by one before it; the two add up in different ways.
#pragma once

#include <Eigen/Core>

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

/// out = a b in Eigen's blocks.
template <class Real, class A, class B>
void multiply(Target<Real> out, const A& a, const B& b) {
    if (a.rows() + a.cols() + b.cols() < EIGEN_GEMM_TO_COEFFBASED_THRESHOLD)
        multiply_by_rows<Real>(out, a, b);
    else
        out.noalias() = a * b;
}

}  // namespace lockstep::network::reference
