"""
`CuArray`s for Postlude: calls run on the current device and on the current task's stream, in order with
what the task has given to the device before. They need a library that was built with CUDA.
"""
module PostludeCUDAExt

using CUDA: CUDA, CuArray
using Postlude: Postlude, LibPostlude

Postlude.memory_space(::CuArray) = LibPostlude.POSTLUDE_DEVICE

Postlude.default_context(::CuArray) = Postlude.shared_context(:cuda, CUDA.deviceid())

Postlude.execution_stream(::CuArray) =
    reinterpret(Ptr{Cvoid}, Base.unsafe_convert(CUDA.CUstream, CUDA.stream()))

end
