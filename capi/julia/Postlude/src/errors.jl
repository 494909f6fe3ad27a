"""
    PostludeError(status, message)

What the library refused, or could not do. `status` is the name of its `postlude_status`, such as
`:POSTLUDE_SYNTAX_ERROR`; `message` names the argument, its value, and what was expected. For a fault in
an expression it has a caret under the column.
"""
struct PostludeError <: Exception
    status::Symbol
    message::String
end

Base.showerror(io::IO, failure::PostludeError) =
    print(io, "PostludeError (", failure.status, "): ", failure.message)

status_name(status) = Symbol(unsafe_string(LibPostlude.postlude_status_name(status)))

fail(status, message) = throw(PostludeError(status_name(status), message))

"""
Throws for every status but success. The message is that of the calling thread: nothing that could move
the task to another one may come between the call and this.
"""
function check(status)
    status == LibPostlude.POSTLUDE_SUCCESS && return
    fail(status, unsafe_string(LibPostlude.postlude_last_error_message()))
end

"""
    Postlude.use_library(path)

Names the C library, instead of the environment variable `POSTLUDE_LIBRARY`. Has to be called before
anything else of this package.
"""
function use_library(path::AbstractString)
    LibPostlude.library[] == C_NULL ||
        error("the C library of Postlude is in use already: expected use_library before any other call")
    LibPostlude.library_path[] = path
    return nothing
end

"""
    Postlude.library_version()

Version of the C library.
"""
library_version() = VersionNumber(unsafe_string(LibPostlude.postlude_version_string()))
