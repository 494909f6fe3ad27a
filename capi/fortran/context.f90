!> Contexts: shared handles of the C interface, and the one that a call makes for itself.
submodule (postlude) contexts
  use, intrinsic :: iso_c_binding, only: c_loc
  implicit none

  !> From the fastest to the slowest.
  integer(c_int32_t), parameter :: host_backends(3) = &
    [POSTLUDE_BACKEND_OPENMP, POSTLUDE_BACKEND_THREADS, POSTLUDE_BACKEND_SERIAL]

contains

  module procedure create_context
    type(postlude_context_options) :: options
    type(failure) :: fault

    call this%destroy()
    options = POSTLUDE_CONTEXT_OPTIONS_INIT
    options%backend = fastest_host_backend()
    if (present(backend)) options%backend = backend
    if (present(device)) options%device = int(device, c_int32_t)
    if (present(stream)) options%stream = stream
    if (present(threads)) options%threads = int(threads, c_int32_t)
    call make_context(this, options, fault)
    call report(fault, stat, errmsg)
  end procedure create_context

  module procedure make_host_context
    type(postlude_context_options) :: options

    options = POSTLUDE_CONTEXT_OPTIONS_INIT
    options%backend = fastest_host_backend()
    call make_context(context, options, fault)
  end procedure make_host_context

  subroutine make_context(context, options, fault)
    class(linear_context), intent(inout) :: context
    type(postlude_context_options), target, intent(in) :: options
    type(failure), intent(inout) :: fault
    type(c_ptr) :: handle
    integer(c_int32_t) :: memory_space

    call note(fault, postlude_context_create(c_loc(options), handle))
    if (fault%status /= POSTLUDE_SUCCESS) return
    memory_space = POSTLUDE_HOST
    call note(fault, postlude_context_memory_space(handle, memory_space))
    allocate (context%state)
    context%state%handle = handle
    context%state%memory_space = memory_space
  end subroutine make_context

  function fastest_host_backend() result(backend)
    integer(c_int32_t) :: backend
    integer :: i

    backend = POSTLUDE_BACKEND_SERIAL
    do i = 1, size(host_backends)
      if (postlude_backend_available(host_backends(i)) == 0) cycle
      backend = host_backends(i)
      return
    end do
  end function fastest_host_backend

  module procedure synchronize_context
    type(failure) :: fault

    if (associated(this%state)) then
      call note(fault, postlude_context_synchronize(this%state%handle))
    else
      call fail(fault, POSTLUDE_INVALID_ARGUMENT, &
                'the context was not created, or was destroyed: expected one after create')
    end if
    call report(fault, stat, errmsg)
  end procedure synchronize_context

  module procedure backend_of_context
    integer(c_int32_t) :: backend

    name = ''
    if (.not. associated(this%state)) return
    backend = POSTLUDE_BACKEND_DEFAULT
    if (postlude_context_backend(this%state%handle, backend) /= POSTLUDE_SUCCESS) return
    name = text_at(postlude_backend_name(backend))
  end procedure backend_of_context

  module procedure destroy_context
    integer(c_int32_t) :: status

    if (.not. associated(this%state)) return
    this%state%owners = this%state%owners - 1
    if (this%state%owners == 0) then
      ! A context that cannot be destroyed is left to the end of the process.
      status = postlude_context_destroy(this%state%handle)
      deallocate (this%state)
    end if
    nullify (this%state)
  end procedure destroy_context

  module procedure share_context
    if (associated(this%state, from%state)) return
    call this%destroy()
    this%state => from%state
    if (associated(this%state)) this%state%owners = this%state%owners + 1
  end procedure share_context

  module procedure finalize_context
    call this%destroy()
  end procedure finalize_context

end submodule contexts
