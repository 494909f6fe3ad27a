"""
`postlude.h` as Julia sees it: constants, structs and functions with their names there, and nothing
added. What each of them means is said in that header.

A test compares every line of this module with the header.
"""
module LibPostlude

using Libdl: Libdl

# ---- The library ---------------------------------------------------------------------------------

const library_lock = ReentrantLock()
const library_path = Ref("")
const library = Ref{Ptr{Cvoid}}(C_NULL)

const default_names = ("libpostlude_c", "libpostlude_c.so.0")

function open_library()
    lock(library_lock) do
        library[] == C_NULL || return library[]
        path = isempty(library_path[]) ? get(ENV, "POSTLUDE_LIBRARY", "") : library_path[]
        names = isempty(path) ? default_names : (path,)
        for name in names
            handle = Libdl.dlopen(name; throw_error = false)
            handle === nothing && continue
            library[] = handle
            return handle
        end
        error(
            "the C library of Postlude was not found as ",
            join(names, " or "),
            ": set the environment variable POSTLUDE_LIBRARY, or call Postlude.use_library, with the ",
            "path of libpostlude_c.so",
        )
    end
end

"""Address of a function of the library, which is opened if it was not yet."""
function symbol(name::Symbol)::Ptr{Cvoid}
    handle = library[]
    return Libdl.dlsym(handle == C_NULL ? open_library() : handle, name)
end

# ---- Constants -----------------------------------------------------------------------------------

const postlude_status = Int32
const POSTLUDE_SUCCESS = Int32(0)
const POSTLUDE_INVALID_ARGUMENT = Int32(1)
const POSTLUDE_SYNTAX_ERROR = Int32(2)
const POSTLUDE_UNKNOWN_NAME = Int32(3)
const POSTLUDE_SHAPE_MISMATCH = Int32(4)
const POSTLUDE_MISSING_OPERAND = Int32(5)
const POSTLUDE_UNSUPPORTED = Int32(6)
const POSTLUDE_OVERLAP = Int32(7)
const POSTLUDE_WRONG_MEMORY_SPACE = Int32(8)
const POSTLUDE_NOT_INITIALIZED = Int32(9)
const POSTLUDE_OUT_OF_MEMORY = Int32(10)
const POSTLUDE_BACKEND_FAILURE = Int32(11)
const POSTLUDE_VERSION_MISMATCH = Int32(12)
const POSTLUDE_INTERNAL_ERROR = Int32(13)

const postlude_dtype = Int32
const POSTLUDE_FLOAT64 = Int32(1)
const POSTLUDE_FLOAT32 = Int32(2)
const POSTLUDE_FLOAT16 = Int32(3)
const POSTLUDE_BFLOAT16 = Int32(4)
const POSTLUDE_INT64 = Int32(5)

const postlude_memory_space = Int32
const POSTLUDE_HOST = Int32(1)
const POSTLUDE_DEVICE = Int32(2)
const POSTLUDE_SHARED = Int32(3)

const postlude_backend = Int32
const POSTLUDE_BACKEND_DEFAULT = Int32(0)
const POSTLUDE_BACKEND_SERIAL = Int32(1)
const POSTLUDE_BACKEND_OPENMP = Int32(2)
const POSTLUDE_BACKEND_THREADS = Int32(3)
const POSTLUDE_BACKEND_CUDA = Int32(4)
const POSTLUDE_BACKEND_HIP = Int32(5)
const POSTLUDE_BACKEND_SYCL = Int32(6)

const postlude_compute_mode = Int32
const POSTLUDE_COMPUTE_AUTOMATIC = Int32(0)
const POSTLUDE_COMPUTE_F64 = Int32(1)
const POSTLUDE_COMPUTE_F32 = Int32(2)
const POSTLUDE_COMPUTE_F32_EMULATED_F16X3 = Int32(3)
const POSTLUDE_COMPUTE_F32_FAST_TF32 = Int32(4)

const postlude_operand_kind = Int32
const POSTLUDE_SCALAR = Int32(1)
const POSTLUDE_ROW = Int32(2)
const POSTLUDE_COLUMN = Int32(3)
const POSTLUDE_MATRIX = Int32(4)
const POSTLUDE_ELEMENT = Int32(5)

const postlude_compilation = Int32
const POSTLUDE_COMPILATION_AUTOMATIC = Int32(0)
const POSTLUDE_COMPILATION_NEVER = Int32(1)
const POSTLUDE_COMPILATION_ALWAYS = Int32(2)

const postlude_layout = Int32
const POSTLUDE_ROW_MAJOR = Int32(1)
const POSTLUDE_COLUMN_MAJOR = Int32(2)
const POSTLUDE_ANY_LAYOUT = Int32(3)

# ---- Structs -------------------------------------------------------------------------------------

# Opaque: only pointers to them exist.
const postlude_context = Cvoid
const postlude_plan = Cvoid
const postlude_weights = Cvoid
const postlude_builder = Cvoid

# A value of a builder.
const postlude_value = Int64

struct postlude_context_options
    size::Csize_t
    backend::postlude_backend
    device::Int32
    stream::Ptr{Cvoid}
    threads::Int32
    stages_host_memory::Int32
end

struct postlude_tensor
    size::Csize_t
    data::Ptr{Cvoid}
    dtype::postlude_dtype
    rank::Int32
    extent::NTuple{3,Int64}
    stride::NTuple{3,Int64}
    memory_space::postlude_memory_space
    reserved::Int32
end

struct postlude_problem
    size::Csize_t
    x::postlude_tensor
    w::postlude_tensor
    compute::postlude_compute_mode
    reserved::Int32
end

struct postlude_operand
    size::Csize_t
    name::Cstring
    kind::postlude_operand_kind
    is_batched::Int32
end

struct postlude_plan_options
    size::Csize_t
    layout::postlude_layout
    compilation::postlude_compilation
    engine::Cstring
    expression_length::Csize_t
    gemm_choice::Cstring
    autotune::Int32
    reserved::Int32
    without_rewrites::Cstring
end

struct postlude_argument
    size::Csize_t
    keyword::Cstring
    value::postlude_value
end

struct postlude_result_info
    size::Csize_t
    name::Cstring
    dtype::postlude_dtype
    extent::NTuple{3,Int64}
end

struct postlude_operand_value
    size::Csize_t
    scalar::Cdouble
    tensor::postlude_tensor
end

struct postlude_bindings
    size::Csize_t
    x::postlude_tensor
    w::postlude_tensor
    operands::Ptr{postlude_operand_value}
    operand_count::Csize_t
    outputs::Ptr{postlude_tensor}
    output_count::Csize_t
    workspace::Ptr{Cvoid}
    workspace_bytes::Csize_t
    weights::Ptr{postlude_weights}
end

struct postlude_check_result
    size::Csize_t
    elements::Int64
    violations::Int64
    largest_absolute_error::Cdouble
    largest_relative_error::Cdouble
    tolerance::Cdouble
end

# ---- Functions -----------------------------------------------------------------------------------

postlude_version() = ccall(symbol(:postlude_version), Int32, ())

postlude_version_string() = ccall(symbol(:postlude_version_string), Cstring, ())

postlude_abi_version() = ccall(symbol(:postlude_abi_version), Int32, ())

postlude_status_name(status) =
    ccall(symbol(:postlude_status_name), Cstring, (postlude_status,), status)

postlude_last_error_message() = ccall(symbol(:postlude_last_error_message), Cstring, ())

postlude_context_create(options, context) = ccall(
    symbol(:postlude_context_create),
    postlude_status,
    (Ptr{postlude_context_options}, Ptr{Ptr{postlude_context}}),
    options,
    context,
)

postlude_context_destroy(context) =
    ccall(symbol(:postlude_context_destroy), postlude_status, (Ptr{postlude_context},), context)

postlude_context_backend(context, backend) = ccall(
    symbol(:postlude_context_backend),
    postlude_status,
    (Ptr{postlude_context}, Ptr{postlude_backend}),
    context,
    backend,
)

postlude_context_synchronize(context) =
    ccall(symbol(:postlude_context_synchronize), postlude_status, (Ptr{postlude_context},), context)

postlude_backend_name(backend) =
    ccall(symbol(:postlude_backend_name), Cstring, (postlude_backend,), backend)

postlude_backend_available(backend) =
    ccall(symbol(:postlude_backend_available), Int32, (postlude_backend,), backend)

postlude_allocate(context, bytes, memory) = ccall(
    symbol(:postlude_allocate),
    postlude_status,
    (Ptr{postlude_context}, Csize_t, Ptr{Ptr{Cvoid}}),
    context,
    bytes,
    memory,
)

postlude_free(context, memory) = ccall(
    symbol(:postlude_free),
    postlude_status,
    (Ptr{postlude_context}, Ptr{Cvoid}),
    context,
    memory,
)

postlude_copy_to_backend(context, destination, source, bytes) = ccall(
    symbol(:postlude_copy_to_backend),
    postlude_status,
    (Ptr{postlude_context}, Ptr{Cvoid}, Ptr{Cvoid}, Csize_t),
    context,
    destination,
    source,
    bytes,
)

postlude_copy_to_host(context, destination, source, bytes) = ccall(
    symbol(:postlude_copy_to_host),
    postlude_status,
    (Ptr{postlude_context}, Ptr{Cvoid}, Ptr{Cvoid}, Csize_t),
    context,
    destination,
    source,
    bytes,
)

postlude_context_memory_space(context, space) = ccall(
    symbol(:postlude_context_memory_space),
    postlude_status,
    (Ptr{postlude_context}, Ptr{postlude_memory_space}),
    context,
    space,
)

postlude_tensor_matrix(tensor, data, dtype, rows, columns, layout, space) = ccall(
    symbol(:postlude_tensor_matrix),
    postlude_status,
    (
        Ptr{postlude_tensor},
        Ptr{Cvoid},
        postlude_dtype,
        Int64,
        Int64,
        postlude_layout,
        postlude_memory_space,
    ),
    tensor,
    data,
    dtype,
    rows,
    columns,
    layout,
    space,
)

postlude_tensor_vector(tensor, data, dtype, elements, space) = ccall(
    symbol(:postlude_tensor_vector),
    postlude_status,
    (Ptr{postlude_tensor}, Ptr{Cvoid}, postlude_dtype, Int64, postlude_memory_space),
    tensor,
    data,
    dtype,
    elements,
    space,
)

postlude_tensor_from_dlpack(tensor, dlpack) = ccall(
    symbol(:postlude_tensor_from_dlpack),
    postlude_status,
    (Ptr{postlude_tensor}, Ptr{Cvoid}),
    tensor,
    dlpack,
)

postlude_builder_create(builder) = ccall(
    symbol(:postlude_builder_create),
    postlude_status,
    (Ptr{Ptr{postlude_builder}},),
    builder,
)

postlude_builder_destroy(builder) =
    ccall(symbol(:postlude_builder_destroy), postlude_status, (Ptr{postlude_builder},), builder)

postlude_builder_y(builder, value) = ccall(
    symbol(:postlude_builder_y),
    postlude_status,
    (Ptr{postlude_builder}, Ptr{postlude_value}),
    builder,
    value,
)

postlude_builder_constant(builder, number, value) = ccall(
    symbol(:postlude_builder_constant),
    postlude_status,
    (Ptr{postlude_builder}, Cdouble, Ptr{postlude_value}),
    builder,
    number,
    value,
)

postlude_builder_operand(builder, name, value) = ccall(
    symbol(:postlude_builder_operand),
    postlude_status,
    (Ptr{postlude_builder}, Cstring, Ptr{postlude_value}),
    builder,
    name,
    value,
)

postlude_builder_call(builder, function_name, arguments, argument_count, value) = ccall(
    symbol(:postlude_builder_call),
    postlude_status,
    (Ptr{postlude_builder}, Cstring, Ptr{postlude_argument}, Csize_t, Ptr{postlude_value}),
    builder,
    function_name,
    arguments,
    argument_count,
    value,
)

postlude_builder_result(builder, name, value) = ccall(
    symbol(:postlude_builder_result),
    postlude_status,
    (Ptr{postlude_builder}, Cstring, postlude_value),
    builder,
    name,
    value,
)

postlude_plan_build(context, problem, builder, operands, operand_count, options, plan) = ccall(
    symbol(:postlude_plan_build),
    postlude_status,
    (
        Ptr{postlude_context},
        Ptr{postlude_problem},
        Ptr{postlude_builder},
        Ptr{postlude_operand},
        Csize_t,
        Ptr{postlude_plan_options},
        Ptr{Ptr{postlude_plan}},
    ),
    context,
    problem,
    builder,
    operands,
    operand_count,
    options,
    plan,
)

postlude_plan_create(context, problem, expression, operands, operand_count, options, plan) = ccall(
    symbol(:postlude_plan_create),
    postlude_status,
    (
        Ptr{postlude_context},
        Ptr{postlude_problem},
        Cstring,
        Ptr{postlude_operand},
        Csize_t,
        Ptr{postlude_plan_options},
        Ptr{Ptr{postlude_plan}},
    ),
    context,
    problem,
    expression,
    operands,
    operand_count,
    options,
    plan,
)

postlude_plan_destroy(plan) =
    ccall(symbol(:postlude_plan_destroy), postlude_status, (Ptr{postlude_plan},), plan)

postlude_plan_workspace_size(plan, bytes) = ccall(
    symbol(:postlude_plan_workspace_size),
    postlude_status,
    (Ptr{postlude_plan}, Ptr{Csize_t}),
    plan,
    bytes,
)

postlude_plan_workspace_size_with_weights(plan, bytes) = ccall(
    symbol(:postlude_plan_workspace_size_with_weights),
    postlude_status,
    (Ptr{postlude_plan}, Ptr{Csize_t}),
    plan,
    bytes,
)

postlude_plan_result_count(plan, count) = ccall(
    symbol(:postlude_plan_result_count),
    postlude_status,
    (Ptr{postlude_plan}, Ptr{Csize_t}),
    plan,
    count,
)

postlude_plan_result(plan, index, info) = ccall(
    symbol(:postlude_plan_result),
    postlude_status,
    (Ptr{postlude_plan}, Csize_t, Ptr{postlude_result_info}),
    plan,
    index,
    info,
)

postlude_plan_work(plan, gemm_flops, minimum_bytes) = ccall(
    symbol(:postlude_plan_work),
    postlude_status,
    (Ptr{postlude_plan}, Ptr{Cdouble}, Ptr{Cdouble}),
    plan,
    gemm_flops,
    minimum_bytes,
)

postlude_plan_explain(plan, text) = ccall(
    symbol(:postlude_plan_explain),
    postlude_status,
    (Ptr{postlude_plan}, Ptr{Cstring}),
    plan,
    text,
)

postlude_plan_explain_json(plan, text) = ccall(
    symbol(:postlude_plan_explain_json),
    postlude_status,
    (Ptr{postlude_plan}, Ptr{Cstring}),
    plan,
    text,
)

postlude_plan_gemm_choice(plan, text) = ccall(
    symbol(:postlude_plan_gemm_choice),
    postlude_status,
    (Ptr{postlude_plan}, Ptr{Cstring}),
    plan,
    text,
)

postlude_weights_create(context, plan, w, weights) = ccall(
    symbol(:postlude_weights_create),
    postlude_status,
    (
        Ptr{postlude_context},
        Ptr{postlude_plan},
        Ptr{postlude_tensor},
        Ptr{Ptr{postlude_weights}},
    ),
    context,
    plan,
    w,
    weights,
)

postlude_weights_size(weights, bytes) = ccall(
    symbol(:postlude_weights_size),
    postlude_status,
    (Ptr{postlude_weights}, Ptr{Csize_t}),
    weights,
    bytes,
)

postlude_weights_refresh(weights, w, stream) = ccall(
    symbol(:postlude_weights_refresh),
    postlude_status,
    (Ptr{postlude_weights}, Ptr{postlude_tensor}, Ptr{Cvoid}),
    weights,
    w,
    stream,
)

postlude_weights_destroy(weights) =
    ccall(symbol(:postlude_weights_destroy), postlude_status, (Ptr{postlude_weights},), weights)

postlude_execute(plan, bindings, stream) = ccall(
    symbol(:postlude_execute),
    postlude_status,
    (Ptr{postlude_plan}, Ptr{postlude_bindings}, Ptr{Cvoid}),
    plan,
    bindings,
    stream,
)

postlude_check(plan, bindings, tolerance, results, result_count) = ccall(
    symbol(:postlude_check),
    postlude_status,
    (Ptr{postlude_plan}, Ptr{postlude_bindings}, Cdouble, Ptr{postlude_check_result}, Csize_t),
    plan,
    bindings,
    tolerance,
    results,
    result_count,
)

end
