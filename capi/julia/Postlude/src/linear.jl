"""
    linear!([context,] out, expression, X, W; operands...)

Computes `out = epilogue(W * X, operands...)` and returns `out`, an array or, for an expression with several
results, a tuple of arrays. In `expression`, `y` is `W * X` and every other name an operand:

    linear!(out, "min(y + bias, c) - c", X, W; bias, c = 2f0)
    linear!((sums, z), "z = y + bias; return sum(z, dim=1), z", X, W; bias)

`X` is K×M, `W` is N×K and `out` N×M; see [`Postlude`](@ref) for everything else. To compute the same for
many arrays, make a [`Plan`](@ref), which also says what errors are thrown. Complete on return.
"""
linear!(out, expression::AbstractString, X::AbstractArray, W::AbstractArray; operands...) =
    linear!(default_context(root(X)), out, expression, X, W; operands...)

linear!(
    context::Context,
    out,
    expression::AbstractString,
    X::AbstractArray,
    W::AbstractArray;
    operands...,
) = execute_once(Plan(context, expression, X, W, out; operands...), out, X, W; operands...)

"""
    linear([context,] expression, X, W; operands...)

As [`linear!`](@ref), into new arrays in the memory of `X`. Reductions keep their dimension, with size 1.
"""
linear(expression::AbstractString, X::AbstractArray, W::AbstractArray; operands...) =
    linear(default_context(root(X)), expression, X, W; operands...)

function linear(
    context::Context,
    expression::AbstractString,
    X::AbstractArray,
    W::AbstractArray;
    operands...,
)
    plan = Plan(context, expression, X, W; operands...)
    arrays = Tuple(similar(X, result.type, result.size) for result in plan.results)
    out = length(arrays) == 1 ? arrays[1] : arrays
    return execute_once(plan, out, X, W; operands...)
end

"""Executes a plan and frees it at once, together with the memory that it took."""
function execute_once(plan::Plan, out, X, W; operands...)
    try
        return plan(out, X, W; operands...)
    finally
        finalize(plan)
    end
end
