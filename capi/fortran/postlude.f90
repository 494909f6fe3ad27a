!> Linear layers with fused epilogues from Fortran:
!!
!!     out = epilogue(matmul(w, x), operands...)
!!
!! with the epilogue written as mathematics, checked and compiled when it is first used:
!!
!!     use postlude, only: linear, operand
!!     real :: x(k, m), w(n, k), out(n, m)
!!     real, target :: b(n)
!!     call linear(out, 'min(y + bias, c) - c', x, w, [operand('bias', b), operand('c', 2.0)])
!!
!! **Shapes.** Features come first, as is natural for arrays that are stored by columns: a column is
!! one sample of the batch. `x(k, m)` has k input features of m samples, `w(n, k)` the weights, and
!! `y = matmul(w, x)`, as every result of its shape, is `(n, m)`: n output features of m samples.
!!
!! **No copies.** Arrays are passed by address and strides, so that sections, also non-contiguous and
!! reversed ones, are read and written in place.
!!
!! **Operands** broadcast against y:
!!
!! | declared as              | is                                 | the library's kind |
!! |--------------------------|------------------------------------|--------------------|
!! | scalar                   | one number                         | scalar             |
!! | `b(n)` or `b(n, 1)`      | one number for each output feature | row                |
!! | `b(1, m)`                | one number for each sample         | column             |
!! | `b(n, m)`                | one number for each element of y   | matrix             |
!! | `b(1, 1)`                | one number in memory               | element            |
!!
!! **Dimensions in expressions** are the library's, for which a sample is a row: `dim=1` reduces over
!! the output features, that is over the first dimension of the Fortran array, and leaves `(1, m)`;
!! `dim=0` reduces over the batch, the second dimension, and leaves `(n, 1)`. A result of either
!! shape may be received in an array of rank 1.
!!
!! **Kinds.** x, w and out are real32 or real64, all the same; the epilogue is computed in this kind.
!! Operands may have the other one, results received with `into` too, and argmax and argmin are
!! received in int64.
!!
!! **Errors.** `stat=` and `errmsg=` are those of the language's own statements: stat becomes 0 or
!! one of the positive `POSTLUDE_...` constants; errmsg is assigned, padded or cut to its length, when
!! there is an error and left alone otherwise. Without stat an error writes the message to the error
!! unit and ends the program by `error stop`. A refused call leaves the results untouched.
!!
!! **Memory.** Without `context=` arrays are ordinary host memory, and the fastest host backend of the
!! library is used. With a context of an accelerator, every array is memory that the accelerator
!! reaches: the host's is refused.
!!
!! **Threads.** Any number may call `linear`, and execute one plan, with different results. A plan
!! or context must not be assigned or destroyed while another thread uses it.
!!
!! Since 0.1.
module postlude
  use, intrinsic :: iso_c_binding, only: c_int32_t, c_null_ptr, c_ptr
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use postlude_c
  implicit none
  private

  public :: linear, linear_plan, linear_context, operand, into, result_target
  public :: postlude_version

  public :: POSTLUDE_SUCCESS, POSTLUDE_INVALID_ARGUMENT, POSTLUDE_SYNTAX_ERROR, &
            POSTLUDE_UNKNOWN_NAME, POSTLUDE_SHAPE_MISMATCH, POSTLUDE_MISSING_OPERAND, &
            POSTLUDE_UNSUPPORTED, POSTLUDE_OVERLAP, POSTLUDE_WRONG_MEMORY_SPACE, &
            POSTLUDE_NOT_INITIALIZED, POSTLUDE_OUT_OF_MEMORY, POSTLUDE_BACKEND_FAILURE, &
            POSTLUDE_VERSION_MISMATCH, POSTLUDE_INTERNAL_ERROR
  public :: POSTLUDE_BACKEND_DEFAULT, POSTLUDE_BACKEND_SERIAL, POSTLUDE_BACKEND_OPENMP, &
            POSTLUDE_BACKEND_THREADS, POSTLUDE_BACKEND_CUDA, POSTLUDE_BACKEND_HIP, &
            POSTLUDE_BACKEND_SYCL

  !> Names of operands are this long at most, as those of Fortran are.
  integer, parameter :: name_length = 63

  !> Where the elements of an array are. Not owned.
  type :: array_view
    type(postlude_tensor) :: tensor  !< extents and strides in Fortran's order, first dimension first
    logical :: is_associated = .true.
    logical :: has_whole_strides = .true.  !< strides are whole numbers of elements
  end type array_view

  !> A name in an expression with its value, made by the function `operand`.
  type :: operand
    private
    character(len=name_length) :: name = ''
    integer :: written_length = 0  !< of the name, which may be too long
    logical :: is_scalar = .true.
    real(real64) :: scalar = 0
    type(array_view) :: view
  end type operand

  !> An array that receives a result, made by the function `into`.
  type :: result_target
    private
    type(array_view) :: view
  end type result_target

  type :: context_state
    type(c_ptr) :: handle = c_null_ptr
    integer(c_int32_t) :: memory_space = POSTLUDE_HOST
    integer :: owners = 1
  end type context_state

  !> A backend, with its device and stream, for plans to be made and executed on. Assignment shares
  !! it; it is destroyed with its last variable. Plans that were made with it stay valid.
  type :: linear_context
    private
    type(context_state), pointer :: state => null()
  contains
    procedure :: create => create_context
    procedure :: destroy => destroy_context
    procedure :: synchronize => synchronize_context
    procedure :: backend => backend_of_context
    procedure, private :: share_context
    generic :: assignment(=) => share_context
    final :: finalize_context
  end type linear_context

  !> What results a plan has, and for what it was made.
  type :: plan_state
    type(c_ptr) :: handle = c_null_ptr
    integer(c_int32_t) :: memory_space = POSTLUDE_HOST
    integer :: owners = 1
    integer(int64) :: samples = 0
    integer(int64) :: out_features = 0
    logical :: takes_strided_results = .false.
    type(postlude_tensor) :: x, w  !< in Fortran's order
    character(len=name_length), allocatable :: names(:)  !< of the operands
    integer(c_int32_t), allocatable :: kinds(:)
    type(postlude_result_info), allocatable :: results(:)
  end type plan_state

  !> An expression compiled for one problem: made once for the shapes and strides of x and w, and
  !! executed many times. Assignment shares it; it is destroyed with its last variable. (A variable
  !! of the main program lives until the program ends.)
  type :: linear_plan
    private
    type(plan_state), pointer :: state => null()
  contains
    procedure, private :: create_real32, create_real64
    !> See `create_real32`.
    generic :: create => create_real32, create_real64
    procedure, private :: execute_real32_1, execute_real32_2, execute_real32_into
    procedure, private :: execute_real64_1, execute_real64_2, execute_real64_into
    !> See `execute_real32_2`.
    generic :: execute => execute_real32_1, execute_real32_2, execute_real32_into, &
                          execute_real64_1, execute_real64_2, execute_real64_into
    procedure :: explain => explain_plan
    procedure :: destroy => destroy_plan
    procedure, private :: share_plan
    generic :: assignment(=) => share_plan
    final :: finalize_plan
  end type linear_plan

  !> What went wrong, on its way to the `stat=` and `errmsg=` of a call.
  type :: failure
    integer(c_int32_t) :: status = POSTLUDE_SUCCESS
    character(len=:), allocatable :: text
  end type failure

  ! ---- Operands and results ----------------------------------------------------------------------

  !> `operand(name, value)`: gives a name of an expression its value.
  !!
  !! An array is referred to, not copied. It has to be a target (or a pointer), which the compiler
  !! checks, and has to stay as it is while the operand is used. The value may be a scalar of kind
  !! real32, real64 or int32, or an array of rank 1 or 2 of kind real32 or real64; see the module for
  !! the shapes. Errors are reported by the call that uses the operand.
  interface operand
    module function operand_scalar_real32(name, value) result(made)
      character(len=*), intent(in) :: name
      real(real32), intent(in) :: value
      type(operand) :: made
    end function operand_scalar_real32
    module function operand_scalar_real64(name, value) result(made)
      character(len=*), intent(in) :: name
      real(real64), intent(in) :: value
      type(operand) :: made
    end function operand_scalar_real64
    module function operand_scalar_int32(name, value) result(made)
      character(len=*), intent(in) :: name
      integer(int32), intent(in) :: value
      type(operand) :: made
    end function operand_scalar_int32
    module function operand_real32_1(name, value) result(made)
      character(len=*), intent(in) :: name
      real(real32), pointer, intent(in) :: value(:)
      type(operand) :: made
    end function operand_real32_1
    module function operand_real32_2(name, value) result(made)
      character(len=*), intent(in) :: name
      real(real32), pointer, intent(in) :: value(:, :)
      type(operand) :: made
    end function operand_real32_2
    module function operand_real64_1(name, value) result(made)
      character(len=*), intent(in) :: name
      real(real64), pointer, intent(in) :: value(:)
      type(operand) :: made
    end function operand_real64_1
    module function operand_real64_2(name, value) result(made)
      character(len=*), intent(in) :: name
      real(real64), pointer, intent(in) :: value(:, :)
      type(operand) :: made
    end function operand_real64_2
  end interface operand

  !> `into(array)`: an array that receives a result. Needed where an expression has several:
  !!
  !!     call linear([into(s), into(z)], 'z = y + bias; return sum(z, dim=1), z', x, w, ...)
  !!
  !! The array is a target (or a pointer) of rank 1 or 2 and of kind real32, real64 or int64.
  interface into
    module function into_real32_1(array) result(made)
      real(real32), pointer, intent(in) :: array(:)
      type(result_target) :: made
    end function into_real32_1
    module function into_real32_2(array) result(made)
      real(real32), pointer, intent(in) :: array(:, :)
      type(result_target) :: made
    end function into_real32_2
    module function into_real64_1(array) result(made)
      real(real64), pointer, intent(in) :: array(:)
      type(result_target) :: made
    end function into_real64_1
    module function into_real64_2(array) result(made)
      real(real64), pointer, intent(in) :: array(:, :)
      type(result_target) :: made
    end function into_real64_2
    module function into_int64_1(array) result(made)
      integer(int64), pointer, intent(in) :: array(:)
      type(result_target) :: made
    end function into_int64_1
    module function into_int64_2(array) result(made)
      integer(int64), pointer, intent(in) :: array(:, :)
      type(result_target) :: made
    end function into_int64_2
  end interface into

  ! ---- One call ----------------------------------------------------------------------------------

  !> `call linear(out, expression, x, w [, operands, context, stat, errmsg])`
  !!
  !! Computes `out = epilogue(matmul(w, x), operands...)` with a plan of its own; to compute the same
  !! for many arrays, make a `linear_plan`.
  !!
  !! - `out`: of rank 2, or of rank 1 for a result with only one row or column, or an array of
  !!   `into(...)` with one element for each result. It must not overlap anything else.
  !! - `expression`: the epilogue; y is the linear layer's result. Blanks at its end do not matter.
  !! - `x(k, m)`, `w(n, k)`: of one kind; any section.
  !! - `operands`: one for each name in the expression beside y, in any order.
  !! - `context`: where to compute; absent for the fastest backend of the host.
  !! - `stat`, `errmsg`: see the module. POSTLUDE_SYNTAX_ERROR (the message has a caret under the
  !!   fault), POSTLUDE_UNKNOWN_NAME, POSTLUDE_MISSING_OPERAND, POSTLUDE_SHAPE_MISMATCH,
  !!   POSTLUDE_OVERLAP, POSTLUDE_INVALID_ARGUMENT, POSTLUDE_UNSUPPORTED, ...
  !!
  !! Complete on return. Since 0.1.
  interface linear
    module subroutine linear_real32_2(out, expression, x, w, operands, context, stat, errmsg)
      real(real32), target, intent(inout) :: out(:, :)
      character(len=*), intent(in) :: expression
      real(real32), target, intent(in) :: x(:, :), w(:, :)
      type(operand), intent(in), optional :: operands(:)
      type(linear_context), intent(in), optional :: context
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine linear_real32_2
    module subroutine linear_real32_1(out, expression, x, w, operands, context, stat, errmsg)
      real(real32), target, intent(inout) :: out(:)
      character(len=*), intent(in) :: expression
      real(real32), target, intent(in) :: x(:, :), w(:, :)
      type(operand), intent(in), optional :: operands(:)
      type(linear_context), intent(in), optional :: context
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine linear_real32_1
    module subroutine linear_real32_into(out, expression, x, w, operands, context, stat, errmsg)
      type(result_target), intent(in) :: out(:)
      character(len=*), intent(in) :: expression
      real(real32), target, intent(in) :: x(:, :), w(:, :)
      type(operand), intent(in), optional :: operands(:)
      type(linear_context), intent(in), optional :: context
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine linear_real32_into
    module subroutine linear_real64_2(out, expression, x, w, operands, context, stat, errmsg)
      real(real64), target, intent(inout) :: out(:, :)
      character(len=*), intent(in) :: expression
      real(real64), target, intent(in) :: x(:, :), w(:, :)
      type(operand), intent(in), optional :: operands(:)
      type(linear_context), intent(in), optional :: context
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine linear_real64_2
    module subroutine linear_real64_1(out, expression, x, w, operands, context, stat, errmsg)
      real(real64), target, intent(inout) :: out(:)
      character(len=*), intent(in) :: expression
      real(real64), target, intent(in) :: x(:, :), w(:, :)
      type(operand), intent(in), optional :: operands(:)
      type(linear_context), intent(in), optional :: context
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine linear_real64_1
    module subroutine linear_real64_into(out, expression, x, w, operands, context, stat, errmsg)
      type(result_target), intent(in) :: out(:)
      character(len=*), intent(in) :: expression
      real(real64), target, intent(in) :: x(:, :), w(:, :)
      type(operand), intent(in), optional :: operands(:)
      type(linear_context), intent(in), optional :: context
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine linear_real64_into
  end interface linear

  ! ---- Contexts ----------------------------------------------------------------------------------

  interface
    !> `call context%create([backend, device, stream, threads, stat, errmsg])`
    !!
    !! - `backend`: a POSTLUDE_BACKEND_... constant that the library was built with; absent for the
    !!   fastest one of the host.
    !! - `device`: number of the accelerator; absent for the current one.
    !! - `stream`: a `cudaStream_t` to use, which must outlive the context and its plans.
    !! - `threads`: of the host, 1 to 512, if Kokkos is initialised here; absent for all.
    !!
    !! What the variable held before is released. Errors: POSTLUDE_UNSUPPORTED (backend not built),
    !! POSTLUDE_INVALID_ARGUMENT, POSTLUDE_NOT_INITIALIZED, POSTLUDE_BACKEND_FAILURE. Since 0.1.
    module subroutine create_context(this, backend, device, stream, threads, stat, errmsg)
      class(linear_context), intent(inout) :: this
      integer(c_int32_t), intent(in), optional :: backend
      integer, intent(in), optional :: device
      type(c_ptr), intent(in), optional :: stream
      integer, intent(in), optional :: threads
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine create_context

    !> Waits until all work that was given to the context has finished. Since 0.1.
    module subroutine synchronize_context(this, stat, errmsg)
      class(linear_context), intent(in) :: this
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine synchronize_context

    !> Name of the context's backend, 'openmp'; '' for a context that was not created. Since 0.1.
    module function backend_of_context(this) result(name)
      class(linear_context), intent(in) :: this
      character(len=:), allocatable :: name
    end function backend_of_context

    !> Lets go of the context; a variable that holds none is accepted. Since 0.1.
    module subroutine destroy_context(this)
      class(linear_context), intent(inout) :: this
    end subroutine destroy_context

    module subroutine share_context(this, from)
      class(linear_context), intent(inout) :: this
      type(linear_context), intent(in) :: from
    end subroutine share_context

    impure elemental module subroutine finalize_context(this)
      type(linear_context), intent(inout) :: this
    end subroutine finalize_context
  end interface

  ! ---- Plans -------------------------------------------------------------------------------------

  interface
    !> `call plan%create(expression, x, w [, operands, context, strided_results, engine, autotune, &
    !!                   without_rewrites, stat, errmsg])`
    !!
    !! Compiles an expression for the shapes and strides of `x(k, m)` and `w(n, k)`; their elements
    !! are not looked at. Of the operands, the names and shapes count.
    !!
    !! - `strided_results`: .true. when the elements of a column of a result will not be contiguous,
    !!   or a result's kind will differ from that of x. Takes more memory; absent for .false.
    !! - `engine`: name of the engine for the linear layer; absent to let the plan choose.
    !! - `autotune`: .true. to time the algorithms that a vendor's library proposes, and keep the fastest:
    !!   takes tens of executions, and memory for another x, w and result; absent for .false.
    !! - `without_rewrites`: names of rewrites to leave out, with commas between, or 'all'; absent for
    !!   none.
    !!
    !! What the variable held before is released, also when there is an error. Errors: as `linear`.
    !! Since 0.1.
    module subroutine create_real32(this, expression, x, w, operands, context, strided_results, &
                                    engine, autotune, without_rewrites, stat, errmsg)
      class(linear_plan), intent(inout) :: this
      character(len=*), intent(in) :: expression
      real(real32), target, intent(in) :: x(:, :), w(:, :)
      type(operand), intent(in), optional :: operands(:)
      type(linear_context), intent(in), optional :: context
      logical, intent(in), optional :: strided_results
      character(len=*), intent(in), optional :: engine
      logical, intent(in), optional :: autotune
      character(len=*), intent(in), optional :: without_rewrites
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine create_real32
    module subroutine create_real64(this, expression, x, w, operands, context, strided_results, &
                                    engine, autotune, without_rewrites, stat, errmsg)
      class(linear_plan), intent(inout) :: this
      character(len=*), intent(in) :: expression
      real(real64), target, intent(in) :: x(:, :), w(:, :)
      type(operand), intent(in), optional :: operands(:)
      type(linear_context), intent(in), optional :: context
      logical, intent(in), optional :: strided_results
      character(len=*), intent(in), optional :: engine
      logical, intent(in), optional :: autotune
      character(len=*), intent(in), optional :: without_rewrites
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine create_real64

    !> `call plan%execute(out, x, w [, operands, stream, stat, errmsg])`
    !!
    !! Computes the plan's results. x and w have the shapes, strides and kind that the plan was made
    !! for; the operands have its names, in any order, and its shapes.
    !!
    !! - `stream`: a `cudaStream_t` for this execution on a CUDA context; absent for the context's.
    !!
    !! Complete on return on host backends, asynchronous on accelerators. Errors and everything else:
    !! as `linear`. Since 0.1.
    module subroutine execute_real32_2(this, out, x, w, operands, stream, stat, errmsg)
      class(linear_plan), intent(in) :: this
      real(real32), target, intent(inout) :: out(:, :)
      real(real32), target, intent(in) :: x(:, :), w(:, :)
      type(operand), intent(in), optional :: operands(:)
      type(c_ptr), intent(in), optional :: stream
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine execute_real32_2
    module subroutine execute_real32_1(this, out, x, w, operands, stream, stat, errmsg)
      class(linear_plan), intent(in) :: this
      real(real32), target, intent(inout) :: out(:)
      real(real32), target, intent(in) :: x(:, :), w(:, :)
      type(operand), intent(in), optional :: operands(:)
      type(c_ptr), intent(in), optional :: stream
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine execute_real32_1
    module subroutine execute_real32_into(this, out, x, w, operands, stream, stat, errmsg)
      class(linear_plan), intent(in) :: this
      type(result_target), intent(in) :: out(:)
      real(real32), target, intent(in) :: x(:, :), w(:, :)
      type(operand), intent(in), optional :: operands(:)
      type(c_ptr), intent(in), optional :: stream
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine execute_real32_into
    module subroutine execute_real64_2(this, out, x, w, operands, stream, stat, errmsg)
      class(linear_plan), intent(in) :: this
      real(real64), target, intent(inout) :: out(:, :)
      real(real64), target, intent(in) :: x(:, :), w(:, :)
      type(operand), intent(in), optional :: operands(:)
      type(c_ptr), intent(in), optional :: stream
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine execute_real64_2
    module subroutine execute_real64_1(this, out, x, w, operands, stream, stat, errmsg)
      class(linear_plan), intent(in) :: this
      real(real64), target, intent(inout) :: out(:)
      real(real64), target, intent(in) :: x(:, :), w(:, :)
      type(operand), intent(in), optional :: operands(:)
      type(c_ptr), intent(in), optional :: stream
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine execute_real64_1
    module subroutine execute_real64_into(this, out, x, w, operands, stream, stat, errmsg)
      class(linear_plan), intent(in) :: this
      type(result_target), intent(in) :: out(:)
      real(real64), target, intent(in) :: x(:, :), w(:, :)
      type(operand), intent(in), optional :: operands(:)
      type(c_ptr), intent(in), optional :: stream
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine execute_real64_into

    !> The plan in words, several lines: program, engines, stages, bytes, FLOPs, workspace. It speaks
    !! of shapes as the library sees them, samples before features. Since 0.1.
    module subroutine explain_plan(this, text, stat, errmsg)
      class(linear_plan), intent(in) :: this
      character(len=:), allocatable, intent(out) :: text
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine explain_plan

    !> Lets go of the plan; a variable that holds none is accepted. Since 0.1.
    module subroutine destroy_plan(this)
      class(linear_plan), intent(inout) :: this
    end subroutine destroy_plan

    module subroutine share_plan(this, from)
      class(linear_plan), intent(inout) :: this
      type(linear_plan), intent(in) :: from
    end subroutine share_plan

    impure elemental module subroutine finalize_plan(this)
      type(linear_plan), intent(inout) :: this
    end subroutine finalize_plan
  end interface

  ! ---- What the submodules share -----------------------------------------------------------------

  !> Where the elements of an array are.
  interface view_of
    module function view_real32_1(array) result(view)
      real(real32), pointer, intent(in) :: array(:)
      type(array_view) :: view
    end function view_real32_1
    module function view_real32_2(array) result(view)
      real(real32), pointer, intent(in) :: array(:, :)
      type(array_view) :: view
    end function view_real32_2
    module function view_real64_1(array) result(view)
      real(real64), pointer, intent(in) :: array(:)
      type(array_view) :: view
    end function view_real64_1
    module function view_real64_2(array) result(view)
      real(real64), pointer, intent(in) :: array(:, :)
      type(array_view) :: view
    end function view_real64_2
    module function view_int64_1(array) result(view)
      integer(int64), pointer, intent(in) :: array(:)
      type(array_view) :: view
    end function view_int64_1
    module function view_int64_2(array) result(view)
      integer(int64), pointer, intent(in) :: array(:, :)
      type(array_view) :: view
    end function view_int64_2
  end interface view_of

  interface
    !> The array as the library sees it: a column becomes a row.
    pure module function turned(tensor) result(other)
      type(postlude_tensor), intent(in) :: tensor
      type(postlude_tensor) :: other
    end function turned

    !> True for results that every plan can write: contiguous columns, not reversed, of the kind
    !! of x, which `dtype` is.
    elemental module function is_natural(view, dtype) result(answer)
      type(array_view), intent(in) :: view
      integer(c_int32_t), intent(in) :: dtype
      logical :: answer
    end function is_natural

    !> '(3,4)', the shape of an array.
    pure module function shape_text(tensor) result(text)
      type(postlude_tensor), intent(in) :: tensor
      character(len=:), allocatable :: text
    end function shape_text

    pure module function number_text(number) result(text)
      integer(int64), intent(in) :: number
      character(len=:), allocatable :: text
    end function number_text

    !> Fails when an array cannot be handed over; `name` is what it is called in the message.
    module subroutine require_usable(view, name, fault)
      type(array_view), intent(in) :: view
      character(len=*), intent(in) :: name
      type(failure), intent(inout) :: fault
    end subroutine require_usable

    !> Notes a failure that was found here; the first one counts.
    module subroutine fail(fault, status, text)
      type(failure), intent(inout) :: fault
      integer(c_int32_t), intent(in) :: status
      character(len=*), intent(in) :: text
    end subroutine fail

    !> Notes the failure, if any, of a call of the C interface.
    module subroutine note(fault, status)
      type(failure), intent(inout) :: fault
      integer(c_int32_t), intent(in) :: status
    end subroutine note

    !> Hands a failure, or the success, to the caller of the library.
    module subroutine report(fault, stat, errmsg)
      type(failure), intent(in) :: fault
      integer, intent(out), optional :: stat
      character(len=*), intent(inout), optional :: errmsg
    end subroutine report

    !> The text that a C pointer points to.
    module function text_at(pointer) result(text)
      type(c_ptr), intent(in) :: pointer
      character(len=:), allocatable :: text
    end function text_at

    !> Makes the context that a call uses when it is not given one.
    module subroutine make_host_context(context, fault)
      type(linear_context), intent(inout) :: context
      type(failure), intent(inout) :: fault
    end subroutine make_host_context

    module subroutine make_plan(this, expression, x, w, operands, context, strided_results, engine, &
                                autotune, without_rewrites, fault)
      class(linear_plan), intent(inout) :: this
      character(len=*), intent(in) :: expression
      type(array_view), intent(in) :: x, w
      type(operand), intent(in), optional :: operands(:)
      type(linear_context), intent(in), optional :: context
      logical, intent(in) :: strided_results
      character(len=*), intent(in), optional :: engine
      logical, intent(in) :: autotune
      character(len=*), intent(in), optional :: without_rewrites
      type(failure), intent(inout) :: fault
    end subroutine make_plan

    module subroutine run_plan(this, out, x, w, operands, stream, fault)
      class(linear_plan), intent(in) :: this
      type(array_view), intent(in) :: out(:)
      type(array_view), intent(in) :: x, w
      type(operand), intent(in), optional :: operands(:)
      type(c_ptr), intent(in), optional :: stream
      type(failure), intent(inout) :: fault
    end subroutine run_plan
  end interface
end module postlude
