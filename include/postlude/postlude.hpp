#ifndef POSTLUDE_POSTLUDE_HPP
#define POSTLUDE_POSTLUDE_HPP

/// @file
/// Everything of Postlude's C++ interface.

/// @namespace postlude
/// Linear layers with fused epilogues: out = epilogue(x w^T, operands...), on every Kokkos backend.

#include <postlude/backend.hpp>
#include <postlude/check.hpp>
#include <postlude/data_type.hpp>
#include <postlude/error.hpp>
#include <postlude/execution_space.hpp>
#include <postlude/expression.hpp>
#include <postlude/functor.hpp>
#include <postlude/operation_table.hpp>
#include <postlude/plan.hpp>
#include <postlude/prepared_weights.hpp>
#include <postlude/problem.hpp>
#include <postlude/tensor.hpp>
#include <postlude/version.hpp>
#include <postlude/view.hpp>

#endif
