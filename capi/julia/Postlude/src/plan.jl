struct Result
    name::String
    type::DataType
    size::Dims
end

# What the library is told of an operand.
struct Declaration
    kind::Int32
    is_batched::Int32
end

"""
    PlanOptions(; engine = nothing, autotune = false, without_rewrites = String[])

How a [`Plan`](@ref) is made: with the GEMM engine of that name instead of the plan's choice; with the
algorithms that a vendor's library proposes timed and the fastest kept, which takes tens of executions and
memory for another `X`, `W` and result; and without the rewrites of these names, or `["all"]`.
"""
struct PlanOptions
    engine::Union{Nothing,String}
    autotune::Bool
    without_rewrites::Vector{String}
end

PlanOptions(; engine = nothing, autotune = false, without_rewrites = String[]) =
    PlanOptions(engine, autotune, collect(String, without_rewrites))

"""
    Plan([context,] expression, X, W[, out[, options]]; operands...)

Compiles `expression` for the sizes, strides and element types of `X` and `W`; their elements are not
looked at. Of the operands, the names and sizes count. A plan is made once and executed many times:

    plan = Plan("gelu(y + bias)", X, W; bias)
    plan(out, X, W; bias)

`out`, an array or a tuple of arrays as it will be executed with, matters when the elements of a column of
a result will not be contiguous, or a result will have another element type than `X`; `nothing` otherwise.
`options` are [`PlanOptions`](@ref).

See [`Postlude`](@ref) for sizes and operands. Without a context, that of the memory of `X` is used: for
arrays of the host its fastest backend.

# Executing

    plan(out, X, W; operands...)

computes the plan's results into `out`, an array or a tuple of arrays, and returns it. `X` and `W` have the
sizes, strides and type that the plan was made for, the operands its names and sizes. `out` must not
overlap anything else. Complete on return on the host; on a device asynchronous, in the order of the
current task's stream.

# Errors

A [`PostludeError`](@ref): `POSTLUDE_SYNTAX_ERROR`, with a caret under the fault, `POSTLUDE_UNKNOWN_NAME`,
`POSTLUDE_MISSING_OPERAND`, `POSTLUDE_SHAPE_MISMATCH`, `POSTLUDE_OVERLAP`, ... An `ArgumentError` for an
array that has no strides or is in unknown memory. Results are untouched then.
"""
mutable struct Plan
    handle::Ptr{LibPostlude.postlude_plan}
    context::Context
    x_size::Dims
    w_size::Dims
    names::Vector{Symbol}
    declarations::Vector{Declaration}
    results::Vector{Result}
end

Plan(
    expression::AbstractString,
    X::AbstractArray,
    W::AbstractArray,
    out = nothing,
    options::PlanOptions = PlanOptions();
    operands...,
) = Plan(default_context(root(X)), expression, X, W, out, options; operands...)

function Plan(
    context::Context,
    expression::AbstractString,
    X::AbstractArray,
    W::AbstractArray,
    out = nothing,
    options::PlanOptions = PlanOptions();
    operands...,
)
    require_problem(X, W)
    given = (; operands...)
    names = collect(Symbol, keys(given))
    declarations =
        Declaration[declaration(name, given[name], size(W, 1), size(X, 2)) for name in names]
    x = tensor(X, turned)
    w = tensor(W, kept)
    layout =
        all(array -> is_natural(array, eltype(X)), as_tuple(out)) ? LibPostlude.POSTLUDE_ROW_MAJOR :
        LibPostlude.POSTLUDE_ANY_LAYOUT
    handle = create_plan(context, x, w, String(expression), names, declarations, layout, options)
    plan =
        finalizer(destroy, Plan(handle, context, size(X), size(W), names, declarations, Result[]))
    append!(plan.results, results_of(plan))
    return plan
end

function destroy(plan::Plan)
    handle = plan.handle
    plan.handle = C_NULL
    # A plan that cannot be destroyed is left to the end of the process.
    GC.@preserve plan LibPostlude.postlude_plan_destroy(handle)
    return nothing
end

Base.show(io::IO, plan::Plan) = print(
    io,
    "Plan for X of ",
    join(plan.x_size, "×"),
    " and W of ",
    join(plan.w_size, "×"),
    " on ",
    plan.context.backend,
)

as_tuple(::Nothing) = ()
as_tuple(array::AbstractArray) = (array,)
as_tuple(arrays::Tuple) = arrays

# ---- Making a plan -------------------------------------------------------------------------------

function require_problem(X, W)
    ndims(X) in (2, 3) && ndims(W) in (2, 3) && size(X, 1) == size(W, 2) && return
    fail(
        LibPostlude.POSTLUDE_SHAPE_MISMATCH,
        "X is $(join(size(X), "×")) and W is $(join(size(W), "×")): expected X of K×M and W of N×K with " *
        "the same K",
    )
end

declaration(name, ::Number, n, m) = Declaration(LibPostlude.POSTLUDE_SCALAR, 0)
function declaration(name, array::AbstractArray, n, m)
    is_batched = ndims(array) == 3
    if ndims(array) == 0
        return Declaration(LibPostlude.POSTLUDE_ELEMENT, 0)
    elseif ndims(array) == 1
        length(array) == n && return Declaration(LibPostlude.POSTLUDE_ROW, 0)
    elseif ndims(array) in (2, 3)
        matrix = (size(array, 1), size(array, 2))
        matrix == (n, m) && return Declaration(LibPostlude.POSTLUDE_MATRIX, is_batched)
        matrix == (1, 1) && return Declaration(LibPostlude.POSTLUDE_ELEMENT, is_batched)
        matrix == (n, 1) && return Declaration(LibPostlude.POSTLUDE_ROW, is_batched)
        matrix == (1, m) && return Declaration(LibPostlude.POSTLUDE_COLUMN, is_batched)
    end
    fail(
        LibPostlude.POSTLUDE_SHAPE_MISMATCH,
        "operand $name is $(join(size(array), "×")): expected a number, a vector of $n, $n×1, 1×$m or " *
        "$n×$m, or one of these matrices for each of a batch",
    )
end

text_address(::Nothing) = Cstring(C_NULL)
text_address(text::String) = Cstring(pointer(text))

function create_plan(context, x, w, expression, names, declared, layout, chosen)
    engine = chosen.engine
    rewrites = isempty(chosen.without_rewrites) ? nothing : join(chosen.without_rewrites, ",")
    problem = Ref(
        LibPostlude.postlude_problem(
            sizeof(LibPostlude.postlude_problem),
            x,
            w,
            LibPostlude.POSTLUDE_COMPUTE_AUTOMATIC,
            0,
        ),
    )
    options = Ref(
        LibPostlude.postlude_plan_options(
            sizeof(LibPostlude.postlude_plan_options),
            layout,
            LibPostlude.POSTLUDE_COMPILATION_AUTOMATIC,
            text_address(engine),
            0,
            Cstring(C_NULL),
            chosen.autotune,
            0,
            text_address(rewrites),
        ),
    )
    texts = String.(names)
    handle = Ref{Ptr{LibPostlude.postlude_plan}}(C_NULL)
    GC.@preserve context problem options engine rewrites texts handle begin
        declarations = LibPostlude.postlude_operand[
            LibPostlude.postlude_operand(
                sizeof(LibPostlude.postlude_operand),
                Cstring(pointer(texts[i])),
                declared[i].kind,
                declared[i].is_batched,
            ) for i in eachindex(texts)
        ]
        GC.@preserve declarations begin
            check(
                LibPostlude.postlude_plan_create(
                    context.handle,
                    problem,
                    expression,
                    declarations,
                    length(declarations),
                    options,
                    handle,
                ),
            )
        end
    end
    return handle[]
end

function results_of(plan::Plan)
    count = Ref{Csize_t}(0)
    GC.@preserve plan count check(LibPostlude.postlude_plan_result_count(plan.handle, count))
    return Result[result_of(plan, index) for index in 0:Int(count[])-1]
end

function result_of(plan::Plan, index)
    info = Ref(
        LibPostlude.postlude_result_info(
            sizeof(LibPostlude.postlude_result_info),
            Cstring(C_NULL),
            LibPostlude.POSTLUDE_FLOAT32,
            (1, 0, 0),
        ),
    )
    GC.@preserve plan info begin
        check(LibPostlude.postlude_plan_result(plan.handle, index, info))
        batch, rows, columns = info[].extent
        extents = length(plan.x_size) == 3 ? (columns, rows, batch) : (columns, rows)
        return Result(unsafe_string(info[].name), element_type(info[].dtype), Int.(extents))
    end
end

"""
    explain(plan)

The plan in words: program, engines, stages, bytes, FLOPs, workspace. It speaks of sizes as the library
sees them, samples before features.
"""
function explain(plan::Plan)
    text = Ref(Cstring(C_NULL))
    GC.@preserve plan text begin
        check(LibPostlude.postlude_plan_explain(plan.handle, text))
        return unsafe_string(text[])
    end
end

# ---- Executing a plan ----------------------------------------------------------------------------

function (plan::Plan)(out, X::AbstractArray, W::AbstractArray; operands...)
    outputs = as_tuple(out)
    given = (; operands...)
    require_as_planned(plan, X, W)
    require_results(plan, outputs)
    require_operands(plan, given)
    arrays = (X, W, given, outputs)
    GC.@preserve plan arrays begin
        values = LibPostlude.postlude_operand_value[operand_value(given[name]) for name in plan.names]
        targets = LibPostlude.postlude_tensor[tensor(array, turned) for array in outputs]
        GC.@preserve values targets begin
            bindings = Ref(
                LibPostlude.postlude_bindings(
                    sizeof(LibPostlude.postlude_bindings),
                    tensor(X, turned),
                    tensor(W, kept),
                    pointer(values),
                    length(values),
                    pointer(targets),
                    length(targets),
                    C_NULL,
                    0,
                    C_NULL,
                ),
            )
            stream = execution_stream(root(X))
            GC.@preserve bindings begin
                check(LibPostlude.postlude_execute(plan.handle, bindings, stream))
            end
        end
    end
    return out
end

operand_value(number::Number) = LibPostlude.postlude_operand_value(
    sizeof(LibPostlude.postlude_operand_value),
    Float64(number),
    no_tensor,
)
operand_value(array::AbstractArray) = LibPostlude.postlude_operand_value(
    sizeof(LibPostlude.postlude_operand_value),
    0.0,
    tensor(array, turned),
)

# The library checks all this too, in words of rows and columns. Here the words are those of Julia.

function require_as_planned(plan::Plan, X, W)
    for (name, array, planned) in (("X", X, plan.x_size), ("W", W, plan.w_size))
        size(array) == planned || fail(
            LibPostlude.POSTLUDE_SHAPE_MISMATCH,
            "$name is $(join(size(array), "×")): the plan was made for $(join(planned, "×"))",
        )
    end
end

"""A result of one row or column may be received in a vector."""
fits(array, extents) =
    size(array) == extents ||
    (ndims(array) == 1 && length(extents) == 2 && 1 in extents && length(array) == prod(extents))

function require_results(plan::Plan, outputs)
    length(outputs) == length(plan.results) || fail(
        LibPostlude.POSTLUDE_INVALID_ARGUMENT,
        "out has $(length(outputs)) arrays: expected $(length(plan.results)), one for each result",
    )
    for (array, result) in zip(outputs, plan.results)
        fits(array, result.size) || fail(
            LibPostlude.POSTLUDE_SHAPE_MISMATCH,
            "the array for $(result.name) is $(join(size(array), "×")): expected $(join(result.size, "×"))",
        )
    end
end

function require_operands(plan::Plan, given)
    for name in keys(given)
        name in plan.names || fail(
            LibPostlude.POSTLUDE_UNKNOWN_NAME,
            "$name is no operand of the plan: expected $(join(plan.names, ", "))",
        )
    end
    for (name, planned) in zip(plan.names, plan.declarations)
        haskey(given, name) ||
            fail(LibPostlude.POSTLUDE_MISSING_OPERAND, "operand $name has no value")
        declaration(name, given[name], plan.w_size[1], plan.x_size[2]) == planned || fail(
            LibPostlude.POSTLUDE_SHAPE_MISMATCH,
            "operand $name has another size than the one that the plan was made for",
        )
    end
end
