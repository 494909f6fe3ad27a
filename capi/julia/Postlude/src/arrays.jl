# Where the elements of an array are, as the library wants it told.

"""The array that owns the memory of a view, reshape or transpose."""
function root(array::AbstractArray)
    inner = parent(array)
    return inner === array ? array : root(inner)
end

"""
The `postlude_memory_space` of an array that is its own [`root`](@ref). A package extension adds a method
for each type of array that a backend can reach.
"""
memory_space(::Array) = LibPostlude.POSTLUDE_HOST
memory_space(array) = throw(
    ArgumentError(
        "memory of type $(typeof(array)) is not known to Postlude: expected a view, a reshape or a " *
        "transpose of an Array, or of a CuArray when CUDA is loaded",
    ),
)

dtype(::Type{Float64}) = LibPostlude.POSTLUDE_FLOAT64
dtype(::Type{Float32}) = LibPostlude.POSTLUDE_FLOAT32
dtype(::Type{Float16}) = LibPostlude.POSTLUDE_FLOAT16
dtype(::Type{Int64}) = LibPostlude.POSTLUDE_INT64
dtype(type::Type) = throw(
    ArgumentError("elements of type $type are not known to Postlude: expected Float32 or Float64"),
)

function element_type(number)
    number == LibPostlude.POSTLUDE_FLOAT64 && return Float64
    number == LibPostlude.POSTLUDE_FLOAT32 && return Float32
    number == LibPostlude.POSTLUDE_INT64 && return Int64
    throw(ArgumentError("the library knows a type of elements ($number) that this package does not"))
end

const TurnedArray = Union{Adjoint{<:Real},Transpose{<:Real}}

"""Address of the first element, also for memory of a device."""
address(array::StridedArray) = reinterpret(Ptr{Cvoid}, pointer(array))
address(array::TurnedArray) = address(parent(array))
address(array::AbstractArray) = fail_without_strides(array)

element_strides(array::StridedArray) = strides(array)
function element_strides(array::TurnedArray)
    inner = parent(array)
    # The stride of a dimension of one element does not matter.
    ndims(inner) == 1 && return (length(inner), stride(inner, 1))
    return reverse(element_strides(inner))
end
element_strides(array::AbstractArray) = fail_without_strides(array)

fail_without_strides(array) = throw(
    ArgumentError("an array of type $(typeof(array)) has no strides: expected an array in memory"),
)

"""The library's order of dimensions for X, operands and results: what varies fastest comes last."""
turned(dimensions) = reverse(dimensions)

"""The library's order of dimensions for W, which is N×K on both sides."""
kept(dimensions::NTuple{3,Any}) = (dimensions[3], dimensions[1], dimensions[2])
kept(dimensions) = dimensions

padded(dimensions) = ntuple(i -> i <= length(dimensions) ? Int64(dimensions[i]) : Int64(1), 3)

"""
Describes an array to the library; `order` is [`turned`](@ref) or [`kept`](@ref). The array has to be
preserved for as long as the description is used.
"""
function tensor(array::AbstractArray, order)
    ndims(array) <= 3 || throw(ArgumentError("an array has $(ndims(array)) dimensions: expected 3 at most"))
    return LibPostlude.postlude_tensor(
        sizeof(LibPostlude.postlude_tensor),
        address(array),
        dtype(eltype(array)),
        max(ndims(array), 1),
        padded(order(size(array))),
        padded(order(element_strides(array))),
        memory_space(root(array)),
        0,
    )
end

const no_tensor = LibPostlude.postlude_tensor(
    sizeof(LibPostlude.postlude_tensor),
    C_NULL,
    LibPostlude.POSTLUDE_FLOAT32,
    2,
    (0, 0, 1),
    (0, 0, 1),
    LibPostlude.POSTLUDE_HOST,
    0,
)

"""True for results that every plan can write: contiguous columns, not reversed, of X's type."""
function is_natural(array::AbstractArray, type::Type)
    eltype(array) == type || return false
    distance = element_strides(array)
    packed = 1
    for dimension in 1:ndims(array)
        size(array, dimension) <= 1 && continue
        distance[dimension] >= packed || return false
        dimension == 1 && distance[1] != 1 && return false
        packed = distance[dimension] * size(array, dimension)
    end
    return true
end
