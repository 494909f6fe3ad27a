"""
Linear layers with fused epilogues:

    out = epilogue(W * X, operands...)

with the epilogue written as mathematics, checked and compiled when it is first used:

    linear!(out, "min(y + bias, c) - c", X, W; bias, c = 2f0)

# Shapes

Features come first, as is natural for arrays that are stored by columns: a column is one sample of
the batch. `X` is K×M (K input features of M samples), `W` is N×K, and `y = W * X`, as every result of
its shape, is N×M. A third dimension of `X` and of the results, and of `W` unless it is shared, is a
batch of such problems.

Arrays are passed by address and strides: views, reshapes and transposes of them are read and written in
place, without copies.

# Operands

They are keyword arguments, and broadcast as Julia's own broadcasting does against the N×M matrix y:

| given as                    | is                                 | the library's kind |
|:----------------------------|:-----------------------------------|:-------------------|
| a number                    | one number                         | scalar             |
| a vector of N, or N×1       | one number for each output feature | row                |
| 1×M, or a transposed vector | one number for each sample         | column             |
| N×M                         | one number for each element of y   | matrix             |
| 1×1, or an array without dimensions | one number in memory       | element            |

Of a batch, all problems see the same operand, unless it has a third dimension too, as N×1×B.

# Dimensions in expressions

They are the library's, for which a sample is a row: `dim=1` reduces over the output features, the first
dimension of the Julia array, and leaves 1×M; `dim=0` reduces over the batch, the second dimension, and
leaves N×1. A result of either shape may be received in a vector.

# Types

`X`, `W` and the results have elements of type `Float32` or `Float64`, all the same; the epilogue is
computed in this type. Operands and results may have another one of the two. `argmax` and `argmin` give
`Int64`, counted from 0.

# Errors

Whatever the library refuses throws a [`PostludeError`](@ref) with the library's text, before a result
was touched.

# Threads

Tasks may call everything at the same time, and execute one [`Plan`](@ref) with different results.

# Library

`libpostlude_c` is looked up when it is first called: the path in the environment variable
`POSTLUDE_LIBRARY`, or else by its name. [`use_library`](@ref) names it from a program.

This package was checked, not run: its syntax with a grammar of Julia, and each `ccall`, constant and
struct with `postlude.h`.
"""
module Postlude

using LinearAlgebra: Adjoint, Transpose

export Context, Plan, PlanOptions, PostludeError, linear, linear!

include("LibPostlude.jl")
include("errors.jl")
include("arrays.jl")
include("context.jl")
include("plan.jl")
include("linear.jl")

end
