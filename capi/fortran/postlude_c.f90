!> The C interface of Postlude as Fortran sees it: the constants, structs and functions of
!! `postlude.h`, with their names there, and nothing added. What each of them means is said in that
!! header. Most programs want the module `postlude`, which is written on this one.
!!
!! - Handles (`postlude_context *`, `postlude_plan *`) are `type(c_ptr)`.
!! - Structs have the values of their `_INIT` macro once `x = POSTLUDE_..._INIT` is assigned; a struct
!!   that is only declared has a size of 0, which the library refuses.
!! - Texts go in as `trim(text) // c_null_char`, and come out as a `type(c_ptr)` to a text that ends
!!   with a NUL.
!! - Strides count elements, and `extent` and `stride` are in the library's order: rows before
!!   columns. The Fortran array `a(n, m)` is the row-major matrix of m rows and n columns.
!!
!! Since 0.1.
module postlude_c
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_int32_t, c_int64_t, c_null_ptr, c_ptr, &
                                         c_size_t
  implicit none
  private :: c_char, c_double, c_int32_t, c_int64_t, c_null_ptr, c_ptr, c_size_t
  public

  ! ---- Constants ---------------------------------------------------------------------------------

  ! postlude_status
  integer(c_int32_t), parameter :: POSTLUDE_SUCCESS = 0_c_int32_t
  integer(c_int32_t), parameter :: POSTLUDE_INVALID_ARGUMENT = 1_c_int32_t
  integer(c_int32_t), parameter :: POSTLUDE_SYNTAX_ERROR = 2_c_int32_t
  integer(c_int32_t), parameter :: POSTLUDE_UNKNOWN_NAME = 3_c_int32_t
  integer(c_int32_t), parameter :: POSTLUDE_SHAPE_MISMATCH = 4_c_int32_t
  integer(c_int32_t), parameter :: POSTLUDE_MISSING_OPERAND = 5_c_int32_t
  integer(c_int32_t), parameter :: POSTLUDE_UNSUPPORTED = 6_c_int32_t
  integer(c_int32_t), parameter :: POSTLUDE_OVERLAP = 7_c_int32_t
  integer(c_int32_t), parameter :: POSTLUDE_WRONG_MEMORY_SPACE = 8_c_int32_t
  integer(c_int32_t), parameter :: POSTLUDE_NOT_INITIALIZED = 9_c_int32_t
  integer(c_int32_t), parameter :: POSTLUDE_OUT_OF_MEMORY = 10_c_int32_t
  integer(c_int32_t), parameter :: POSTLUDE_BACKEND_FAILURE = 11_c_int32_t
  integer(c_int32_t), parameter :: POSTLUDE_VERSION_MISMATCH = 12_c_int32_t
  integer(c_int32_t), parameter :: POSTLUDE_INTERNAL_ERROR = 13_c_int32_t

  ! postlude_dtype
  integer(c_int32_t), parameter :: POSTLUDE_FLOAT64 = 1_c_int32_t
  integer(c_int32_t), parameter :: POSTLUDE_FLOAT32 = 2_c_int32_t
  integer(c_int32_t), parameter :: POSTLUDE_FLOAT16 = 3_c_int32_t
  integer(c_int32_t), parameter :: POSTLUDE_BFLOAT16 = 4_c_int32_t
  integer(c_int32_t), parameter :: POSTLUDE_INT64 = 5_c_int32_t

  ! postlude_memory_space
  integer(c_int32_t), parameter :: POSTLUDE_HOST = 1_c_int32_t
  integer(c_int32_t), parameter :: POSTLUDE_DEVICE = 2_c_int32_t
  integer(c_int32_t), parameter :: POSTLUDE_SHARED = 3_c_int32_t

  ! postlude_backend
  integer(c_int32_t), parameter :: POSTLUDE_BACKEND_DEFAULT = 0_c_int32_t
  integer(c_int32_t), parameter :: POSTLUDE_BACKEND_SERIAL = 1_c_int32_t
  integer(c_int32_t), parameter :: POSTLUDE_BACKEND_OPENMP = 2_c_int32_t
  integer(c_int32_t), parameter :: POSTLUDE_BACKEND_THREADS = 3_c_int32_t
  integer(c_int32_t), parameter :: POSTLUDE_BACKEND_CUDA = 4_c_int32_t
  integer(c_int32_t), parameter :: POSTLUDE_BACKEND_HIP = 5_c_int32_t
  integer(c_int32_t), parameter :: POSTLUDE_BACKEND_SYCL = 6_c_int32_t

  ! postlude_compute_mode
  integer(c_int32_t), parameter :: POSTLUDE_COMPUTE_AUTOMATIC = 0_c_int32_t
  integer(c_int32_t), parameter :: POSTLUDE_COMPUTE_F64 = 1_c_int32_t
  integer(c_int32_t), parameter :: POSTLUDE_COMPUTE_F32 = 2_c_int32_t
  integer(c_int32_t), parameter :: POSTLUDE_COMPUTE_F32_EMULATED_F16X3 = 3_c_int32_t
  integer(c_int32_t), parameter :: POSTLUDE_COMPUTE_F32_FAST_TF32 = 4_c_int32_t

  ! postlude_operand_kind
  integer(c_int32_t), parameter :: POSTLUDE_SCALAR = 1_c_int32_t
  integer(c_int32_t), parameter :: POSTLUDE_ROW = 2_c_int32_t
  integer(c_int32_t), parameter :: POSTLUDE_COLUMN = 3_c_int32_t
  integer(c_int32_t), parameter :: POSTLUDE_MATRIX = 4_c_int32_t
  integer(c_int32_t), parameter :: POSTLUDE_ELEMENT = 5_c_int32_t

  ! postlude_compilation
  integer(c_int32_t), parameter :: POSTLUDE_COMPILATION_AUTOMATIC = 0_c_int32_t
  integer(c_int32_t), parameter :: POSTLUDE_COMPILATION_NEVER = 1_c_int32_t
  integer(c_int32_t), parameter :: POSTLUDE_COMPILATION_ALWAYS = 2_c_int32_t

  ! postlude_layout
  integer(c_int32_t), parameter :: POSTLUDE_ROW_MAJOR = 1_c_int32_t
  integer(c_int32_t), parameter :: POSTLUDE_COLUMN_MAJOR = 2_c_int32_t
  integer(c_int32_t), parameter :: POSTLUDE_ANY_LAYOUT = 3_c_int32_t

  ! ---- Structs -----------------------------------------------------------------------------------
  ! The size that a struct carries in its first component is that of the type, asked of a prototype.

  type, bind(C) :: postlude_context_options
    integer(c_size_t) :: size = 0
    integer(c_int32_t) :: backend = POSTLUDE_BACKEND_DEFAULT
    integer(c_int32_t) :: device = -1
    type(c_ptr) :: stream = c_null_ptr
    integer(c_int32_t) :: threads = 0
    integer(c_int32_t) :: stages_host_memory = 0
  end type postlude_context_options

  type, bind(C) :: postlude_tensor
    integer(c_size_t) :: size = 0
    type(c_ptr) :: data = c_null_ptr
    integer(c_int32_t) :: dtype = POSTLUDE_FLOAT32
    integer(c_int32_t) :: rank = 2
    integer(c_int64_t) :: extent(3) = [0, 0, 1]
    integer(c_int64_t) :: stride(3) = [0, 0, 1]
    integer(c_int32_t) :: memory_space = POSTLUDE_HOST
    integer(c_int32_t) :: reserved = 0
  end type postlude_tensor
  type(postlude_tensor), parameter, private :: a_tensor = postlude_tensor()
  type(postlude_tensor), parameter :: POSTLUDE_TENSOR_INIT = &
    postlude_tensor(size=storage_size(a_tensor, c_size_t) / 8)

  type, bind(C) :: postlude_problem
    integer(c_size_t) :: size = 0
    type(postlude_tensor) :: x = POSTLUDE_TENSOR_INIT
    type(postlude_tensor) :: w = POSTLUDE_TENSOR_INIT
    integer(c_int32_t) :: compute = POSTLUDE_COMPUTE_AUTOMATIC
    integer(c_int32_t) :: reserved = 0
  end type postlude_problem

  type, bind(C) :: postlude_operand
    integer(c_size_t) :: size = 0
    type(c_ptr) :: name = c_null_ptr
    integer(c_int32_t) :: kind = POSTLUDE_ROW
    integer(c_int32_t) :: is_batched = 0
  end type postlude_operand

  type, bind(C) :: postlude_plan_options
    integer(c_size_t) :: size = 0
    integer(c_int32_t) :: layout = POSTLUDE_ROW_MAJOR
    integer(c_int32_t) :: compilation = POSTLUDE_COMPILATION_AUTOMATIC
    type(c_ptr) :: engine = c_null_ptr
    integer(c_size_t) :: expression_length = 0
    type(c_ptr) :: gemm_choice = c_null_ptr
    integer(c_int32_t) :: autotune = 0
    integer(c_int32_t) :: reserved = 0
    type(c_ptr) :: without_rewrites = c_null_ptr
  end type postlude_plan_options

  type, bind(C) :: postlude_argument
    integer(c_size_t) :: size = 0
    type(c_ptr) :: keyword = c_null_ptr
    integer(c_int64_t) :: value = 0
  end type postlude_argument

  type, bind(C) :: postlude_result_info
    integer(c_size_t) :: size = 0
    type(c_ptr) :: name = c_null_ptr
    integer(c_int32_t) :: dtype = POSTLUDE_FLOAT32
    integer(c_int64_t) :: extent(3) = [1, 0, 0]
  end type postlude_result_info

  type, bind(C) :: postlude_operand_value
    integer(c_size_t) :: size = 0
    real(c_double) :: scalar = 0
    type(postlude_tensor) :: tensor = POSTLUDE_TENSOR_INIT
  end type postlude_operand_value

  type, bind(C) :: postlude_bindings
    integer(c_size_t) :: size = 0
    type(postlude_tensor) :: x = POSTLUDE_TENSOR_INIT
    type(postlude_tensor) :: w = POSTLUDE_TENSOR_INIT
    type(c_ptr) :: operands = c_null_ptr
    integer(c_size_t) :: operand_count = 0
    type(c_ptr) :: outputs = c_null_ptr
    integer(c_size_t) :: output_count = 0
    type(c_ptr) :: workspace = c_null_ptr
    integer(c_size_t) :: workspace_bytes = 0
    type(c_ptr) :: weights = c_null_ptr
  end type postlude_bindings

  type, bind(C) :: postlude_check_result
    integer(c_size_t) :: size = 0
    integer(c_int64_t) :: elements = 0
    integer(c_int64_t) :: violations = 0
    real(c_double) :: largest_absolute_error = 0
    real(c_double) :: largest_relative_error = 0
    real(c_double) :: tolerance = 0
  end type postlude_check_result

  type(postlude_context_options), parameter, private :: a_context_options = postlude_context_options()
  type(postlude_problem), parameter, private :: a_problem = postlude_problem()
  type(postlude_operand), parameter, private :: an_operand = postlude_operand()
  type(postlude_plan_options), parameter, private :: a_plan_options = postlude_plan_options()
  type(postlude_argument), parameter, private :: an_argument = postlude_argument()
  type(postlude_result_info), parameter, private :: a_result_info = postlude_result_info()
  type(postlude_operand_value), parameter, private :: an_operand_value = postlude_operand_value()
  type(postlude_bindings), parameter, private :: a_bindings = postlude_bindings()
  type(postlude_check_result), parameter, private :: a_check_result = postlude_check_result()

  type(postlude_context_options), parameter :: POSTLUDE_CONTEXT_OPTIONS_INIT = &
    postlude_context_options(size=storage_size(a_context_options, c_size_t) / 8)
  type(postlude_problem), parameter :: POSTLUDE_PROBLEM_INIT = &
    postlude_problem(size=storage_size(a_problem, c_size_t) / 8)
  type(postlude_operand), parameter :: POSTLUDE_OPERAND_INIT = &
    postlude_operand(size=storage_size(an_operand, c_size_t) / 8)
  type(postlude_plan_options), parameter :: POSTLUDE_PLAN_OPTIONS_INIT = &
    postlude_plan_options(size=storage_size(a_plan_options, c_size_t) / 8)
  type(postlude_argument), parameter :: POSTLUDE_ARGUMENT_INIT = &
    postlude_argument(size=storage_size(an_argument, c_size_t) / 8)
  type(postlude_result_info), parameter :: POSTLUDE_RESULT_INFO_INIT = &
    postlude_result_info(size=storage_size(a_result_info, c_size_t) / 8)
  type(postlude_operand_value), parameter :: POSTLUDE_OPERAND_VALUE_INIT = &
    postlude_operand_value(size=storage_size(an_operand_value, c_size_t) / 8)
  type(postlude_bindings), parameter :: POSTLUDE_BINDINGS_INIT = &
    postlude_bindings(size=storage_size(a_bindings, c_size_t) / 8)
  type(postlude_check_result), parameter :: POSTLUDE_CHECK_RESULT_INIT = &
    postlude_check_result(size=storage_size(a_check_result, c_size_t) / 8)

  ! ---- Functions ---------------------------------------------------------------------------------

  interface
    function postlude_version() bind(C) result(version)
      import :: c_int32_t
      integer(c_int32_t) :: version
    end function postlude_version

    function postlude_version_string() bind(C) result(text)
      import :: c_ptr
      type(c_ptr) :: text
    end function postlude_version_string

    function postlude_abi_version() bind(C) result(version)
      import :: c_int32_t
      integer(c_int32_t) :: version
    end function postlude_abi_version

    function postlude_status_name(status) bind(C) result(text)
      import :: c_int32_t, c_ptr
      integer(c_int32_t), value :: status
      type(c_ptr) :: text
    end function postlude_status_name

    function postlude_last_error_message() bind(C) result(text)
      import :: c_ptr
      type(c_ptr) :: text
    end function postlude_last_error_message

    !> Pass `c_null_ptr`, or `c_loc` of a `postlude_context_options`, as `options`.
    function postlude_context_create(options, context) bind(C) result(status)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: options
      type(c_ptr), intent(out) :: context
      integer(c_int32_t) :: status
    end function postlude_context_create

    function postlude_context_destroy(context) bind(C) result(status)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: context
      integer(c_int32_t) :: status
    end function postlude_context_destroy

    function postlude_context_backend(context, backend) bind(C) result(status)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: context
      integer(c_int32_t), intent(inout) :: backend
      integer(c_int32_t) :: status
    end function postlude_context_backend

    function postlude_context_synchronize(context) bind(C) result(status)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: context
      integer(c_int32_t) :: status
    end function postlude_context_synchronize

    function postlude_backend_name(backend) bind(C) result(text)
      import :: c_int32_t, c_ptr
      integer(c_int32_t), value :: backend
      type(c_ptr) :: text
    end function postlude_backend_name

    function postlude_backend_available(backend) bind(C) result(available)
      import :: c_int32_t
      integer(c_int32_t), value :: backend
      integer(c_int32_t) :: available
    end function postlude_backend_available

    function postlude_allocate(context, bytes, memory) bind(C) result(status)
      import :: c_int32_t, c_ptr, c_size_t
      type(c_ptr), value :: context
      integer(c_size_t), value :: bytes
      type(c_ptr), intent(inout) :: memory
      integer(c_int32_t) :: status
    end function postlude_allocate

    function postlude_free(context, memory) bind(C) result(status)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: context
      type(c_ptr), value :: memory
      integer(c_int32_t) :: status
    end function postlude_free

    function postlude_copy_to_backend(context, destination, source, bytes) bind(C) result(status)
      import :: c_int32_t, c_ptr, c_size_t
      type(c_ptr), value :: context
      type(c_ptr), value :: destination
      type(c_ptr), value :: source
      integer(c_size_t), value :: bytes
      integer(c_int32_t) :: status
    end function postlude_copy_to_backend

    function postlude_copy_to_host(context, destination, source, bytes) bind(C) result(status)
      import :: c_int32_t, c_ptr, c_size_t
      type(c_ptr), value :: context
      type(c_ptr), value :: destination
      type(c_ptr), value :: source
      integer(c_size_t), value :: bytes
      integer(c_int32_t) :: status
    end function postlude_copy_to_host

    function postlude_context_memory_space(context, space) bind(C) result(status)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: context
      integer(c_int32_t), intent(inout) :: space
      integer(c_int32_t) :: status
    end function postlude_context_memory_space

    function postlude_tensor_matrix(tensor, data, dtype, rows, columns, layout, space) bind(C) &
      result(status)
      import :: c_int32_t, c_int64_t, c_ptr, postlude_tensor
      type(postlude_tensor), intent(inout) :: tensor
      type(c_ptr), value :: data
      integer(c_int32_t), value :: dtype
      integer(c_int64_t), value :: rows
      integer(c_int64_t), value :: columns
      integer(c_int32_t), value :: layout
      integer(c_int32_t), value :: space
      integer(c_int32_t) :: status
    end function postlude_tensor_matrix

    function postlude_tensor_vector(tensor, data, dtype, elements, space) bind(C) result(status)
      import :: c_int32_t, c_int64_t, c_ptr, postlude_tensor
      type(postlude_tensor), intent(inout) :: tensor
      type(c_ptr), value :: data
      integer(c_int32_t), value :: dtype
      integer(c_int64_t), value :: elements
      integer(c_int32_t), value :: space
      integer(c_int32_t) :: status
    end function postlude_tensor_vector

    !> `dlpack` is the address of a DLTensor.
    function postlude_tensor_from_dlpack(tensor, dlpack) bind(C) result(status)
      import :: c_int32_t, c_ptr, postlude_tensor
      type(postlude_tensor), intent(inout) :: tensor
      type(c_ptr), value :: dlpack
      integer(c_int32_t) :: status
    end function postlude_tensor_from_dlpack

    function postlude_builder_create(builder) bind(C) result(status)
      import :: c_int32_t, c_ptr
      type(c_ptr), intent(out) :: builder
      integer(c_int32_t) :: status
    end function postlude_builder_create

    function postlude_builder_destroy(builder) bind(C) result(status)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: builder
      integer(c_int32_t) :: status
    end function postlude_builder_destroy

    function postlude_builder_y(builder, value) bind(C) result(status)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: builder
      integer(c_int64_t), intent(inout) :: value
      integer(c_int32_t) :: status
    end function postlude_builder_y

    function postlude_builder_constant(builder, number, value) bind(C) result(status)
      import :: c_double, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: builder
      real(c_double), value :: number
      integer(c_int64_t), intent(inout) :: value
      integer(c_int32_t) :: status
    end function postlude_builder_constant

    function postlude_builder_operand(builder, name, value) bind(C) result(status)
      import :: c_char, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: builder
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), intent(inout) :: value
      integer(c_int32_t) :: status
    end function postlude_builder_operand

    !> Pass `c_loc` of the first `postlude_argument` as `arguments`.
    function postlude_builder_call(builder, function_name, arguments, argument_count, value) bind(C) &
      result(status)
      import :: c_char, c_int32_t, c_int64_t, c_ptr, c_size_t
      type(c_ptr), value :: builder
      character(kind=c_char), intent(in) :: function_name(*)
      type(c_ptr), value :: arguments
      integer(c_size_t), value :: argument_count
      integer(c_int64_t), intent(inout) :: value
      integer(c_int32_t) :: status
    end function postlude_builder_call

    function postlude_builder_result(builder, name, value) bind(C) result(status)
      import :: c_char, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: builder
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), value :: value
      integer(c_int32_t) :: status
    end function postlude_builder_result

    !> As `postlude_plan_create`, of a builder's results.
    function postlude_plan_build(context, problem, builder, operands, operand_count, options, plan) &
      bind(C) result(status)
      import :: c_int32_t, c_ptr, c_size_t, postlude_problem
      type(c_ptr), value :: context
      type(postlude_problem), intent(in) :: problem
      type(c_ptr), value :: builder
      type(c_ptr), value :: operands
      integer(c_size_t), value :: operand_count
      type(c_ptr), value :: options
      type(c_ptr), intent(out) :: plan
      integer(c_int32_t) :: status
    end function postlude_plan_build

    !> Pass `c_null_ptr`, or `c_loc` of a `postlude_plan_options`, as `options`; `c_null_ptr`, or
    !! `c_loc` of the first `postlude_operand`, as `operands`.
    function postlude_plan_create(context, problem, expression, operands, operand_count, options, &
                                  plan) bind(C) result(status)
      import :: c_char, c_int32_t, c_ptr, c_size_t, postlude_problem
      type(c_ptr), value :: context
      type(postlude_problem), intent(in) :: problem
      character(kind=c_char), intent(in) :: expression(*)
      type(c_ptr), value :: operands
      integer(c_size_t), value :: operand_count
      type(c_ptr), value :: options
      type(c_ptr), intent(out) :: plan
      integer(c_int32_t) :: status
    end function postlude_plan_create

    function postlude_plan_destroy(plan) bind(C) result(status)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: plan
      integer(c_int32_t) :: status
    end function postlude_plan_destroy

    function postlude_plan_workspace_size(plan, bytes) bind(C) result(status)
      import :: c_int32_t, c_ptr, c_size_t
      type(c_ptr), value :: plan
      integer(c_size_t), intent(inout) :: bytes
      integer(c_int32_t) :: status
    end function postlude_plan_workspace_size

    function postlude_plan_workspace_size_with_weights(plan, bytes) bind(C) result(status)
      import :: c_int32_t, c_ptr, c_size_t
      type(c_ptr), value :: plan
      integer(c_size_t), intent(inout) :: bytes
      integer(c_int32_t) :: status
    end function postlude_plan_workspace_size_with_weights

    function postlude_plan_result_count(plan, count) bind(C) result(status)
      import :: c_int32_t, c_ptr, c_size_t
      type(c_ptr), value :: plan
      integer(c_size_t), intent(inout) :: count
      integer(c_int32_t) :: status
    end function postlude_plan_result_count

    function postlude_plan_result(plan, index, info) bind(C) result(status)
      import :: c_int32_t, c_ptr, c_size_t, postlude_result_info
      type(c_ptr), value :: plan
      integer(c_size_t), value :: index
      type(postlude_result_info), intent(inout) :: info
      integer(c_int32_t) :: status
    end function postlude_plan_result

    function postlude_plan_work(plan, gemm_flops, minimum_bytes) bind(C) result(status)
      import :: c_double, c_int32_t, c_ptr
      type(c_ptr), value :: plan
      real(c_double), intent(inout) :: gemm_flops
      real(c_double), intent(inout) :: minimum_bytes
      integer(c_int32_t) :: status
    end function postlude_plan_work

    function postlude_plan_explain(plan, text) bind(C) result(status)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: plan
      type(c_ptr), intent(inout) :: text
      integer(c_int32_t) :: status
    end function postlude_plan_explain

    function postlude_plan_explain_json(plan, text) bind(C) result(status)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: plan
      type(c_ptr), intent(inout) :: text
      integer(c_int32_t) :: status
    end function postlude_plan_explain_json

    function postlude_plan_gemm_choice(plan, text) bind(C) result(status)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: plan
      type(c_ptr), intent(inout) :: text
      integer(c_int32_t) :: status
    end function postlude_plan_gemm_choice

    function postlude_weights_create(context, plan, w, weights) bind(C) result(status)
      import :: c_int32_t, c_ptr, postlude_tensor
      type(c_ptr), value :: context
      type(c_ptr), value :: plan
      type(postlude_tensor), intent(in) :: w
      type(c_ptr), intent(out) :: weights
      integer(c_int32_t) :: status
    end function postlude_weights_create

    function postlude_weights_size(weights, bytes) bind(C) result(status)
      import :: c_int32_t, c_ptr, c_size_t
      type(c_ptr), value :: weights
      integer(c_size_t), intent(inout) :: bytes
      integer(c_int32_t) :: status
    end function postlude_weights_size

    function postlude_weights_refresh(weights, w, stream) bind(C) result(status)
      import :: c_int32_t, c_ptr, postlude_tensor
      type(c_ptr), value :: weights
      type(postlude_tensor), intent(in) :: w
      type(c_ptr), value :: stream
      integer(c_int32_t) :: status
    end function postlude_weights_refresh

    function postlude_weights_destroy(weights) bind(C) result(status)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: weights
      integer(c_int32_t) :: status
    end function postlude_weights_destroy

    function postlude_execute(plan, bindings, stream) bind(C) result(status)
      import :: c_int32_t, c_ptr, postlude_bindings
      type(c_ptr), value :: plan
      type(postlude_bindings), intent(in) :: bindings
      type(c_ptr), value :: stream
      integer(c_int32_t) :: status
    end function postlude_execute

    function postlude_check(plan, bindings, tolerance, results, result_count) bind(C) result(status)
      import :: c_double, c_int32_t, c_ptr, c_size_t, postlude_bindings, postlude_check_result
      type(c_ptr), value :: plan
      type(postlude_bindings), intent(in) :: bindings
      real(c_double), value :: tolerance
      type(postlude_check_result), intent(inout) :: results(*)
      integer(c_size_t), value :: result_count
      integer(c_int32_t) :: status
    end function postlude_check
  end interface
end module postlude_c
