const backends = (
    serial = LibPostlude.POSTLUDE_BACKEND_SERIAL,
    openmp = LibPostlude.POSTLUDE_BACKEND_OPENMP,
    threads = LibPostlude.POSTLUDE_BACKEND_THREADS,
    cuda = LibPostlude.POSTLUDE_BACKEND_CUDA,
    hip = LibPostlude.POSTLUDE_BACKEND_HIP,
    sycl = LibPostlude.POSTLUDE_BACKEND_SYCL,
)

"""
    Context(backend = <the fastest of the host>; device = -1, threads = 0)

A backend for plans to be made and executed on: `:serial`, `:openmp`, `:threads`, `:cuda`, `:hip` or
`:sycl`, if the library was built with it. `device` is the number of an accelerator, -1 for the current
one; `threads` counts those of the host, 0 for all, and matters for the first context of the process.

Contexts are made as needed: name one to choose. It is freed with the last reference to it; plans that
were made with it stay valid.

Errors: a [`PostludeError`](@ref), `POSTLUDE_UNSUPPORTED` for a backend that was not built,
`POSTLUDE_BACKEND_FAILURE` when there is no such device.
"""
mutable struct Context
    handle::Ptr{LibPostlude.postlude_context}
    backend::Symbol

    function Context(backend::Symbol = host_backend(); device::Integer = -1, threads::Integer = 0)
        haskey(backends, backend) || throw(
            ArgumentError("backend is :$backend: expected one of $(join(repr.(keys(backends)), ", "))"),
        )
        options = Ref(
            LibPostlude.postlude_context_options(
                sizeof(LibPostlude.postlude_context_options),
                backends[backend],
                device,
                C_NULL,
                threads,
                0,
            ),
        )
        handle = Ref{Ptr{LibPostlude.postlude_context}}(C_NULL)
        GC.@preserve options handle begin
            check(LibPostlude.postlude_context_create(options, handle))
        end
        return finalizer(destroy, new(handle[], backend))
    end
end

function destroy(context::Context)
    handle = context.handle
    context.handle = C_NULL
    # A context that cannot be destroyed is left to the end of the process.
    GC.@preserve context LibPostlude.postlude_context_destroy(handle)
    return nothing
end

Base.show(io::IO, context::Context) = print(io, "Context(", repr(context.backend), ")")

"""
    synchronize(context)

Waits until all work that was given to the context has finished.
"""
function synchronize(context::Context)
    GC.@preserve context check(LibPostlude.postlude_context_synchronize(context.handle))
    return nothing
end

"""The fastest backend of the host that the library was built with."""
function host_backend()
    for backend in (:openmp, :threads)
        LibPostlude.postlude_backend_available(backends[backend]) == 1 && return backend
    end
    return :serial
end

const shared_contexts = Dict{Tuple{Symbol,Int},Context}()
const shared_contexts_lock = ReentrantLock()

"""The one context of a backend and device that calls without a context use."""
function shared_context(backend::Symbol, device::Integer)
    lock(shared_contexts_lock) do
        get!(() -> Context(backend; device), shared_contexts, (backend, Int(device)))
    end
end

"""
The context for an array that is its own [`root`](@ref). A package extension adds a method for each type
of array that is memory of an accelerator.
"""
default_context(::AbstractArray) = shared_context(host_backend(), -1)

"""The stream on which calls for such an array run; null where there are no streams."""
execution_stream(::AbstractArray) = C_NULL
