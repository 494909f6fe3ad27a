!> The structs of postlude_c against those of the C compiler.
module test_layout
  use, intrinsic :: iso_c_binding, only: c_int32_t, c_intptr_t, c_loc, c_ptr, c_size_t, c_sizeof
  use checks, only: begin, check
  use postlude_c
  implicit none
  private
  public :: structs_are_laid_out_as_in_c

  interface
    function expected_count() bind(C, name='postlude_test_layout_count') result(count)
      import :: c_int32_t
      integer(c_int32_t) :: count
    end function expected_count

    !> What the C compiler says of the size or field at a position, counted from 1.
    function expected(position) bind(C, name='postlude_test_layout') result(bytes)
      import :: c_int32_t, c_size_t
      integer(c_int32_t), value :: position
      integer(c_size_t) :: bytes
    end function expected
  end interface

  integer(c_int32_t) :: position = 0
  character(len=:), allocatable :: current
  type(c_ptr) :: start

contains

  subroutine structs_are_laid_out_as_in_c()
    type(postlude_context_options), target :: options
    type(postlude_tensor), target :: tensor
    type(postlude_problem), target :: problem
    type(postlude_operand), target :: operand
    type(postlude_plan_options), target :: plan_options
    type(postlude_argument), target :: argument
    type(postlude_result_info), target :: info
    type(postlude_operand_value), target :: value
    type(postlude_bindings), target :: bindings
    type(postlude_check_result), target :: check_result

    call begin('structs are laid out as in C, and know their size')

    options = POSTLUDE_CONTEXT_OPTIONS_INIT
    call struct('postlude_context_options', c_sizeof(options), options%size, c_loc(options%size))
    call field('backend', c_loc(options%backend))
    call field('device', c_loc(options%device))
    call field('stream', c_loc(options%stream))
    call field('threads', c_loc(options%threads))
    call field('stages_host_memory', c_loc(options%stages_host_memory))

    tensor = POSTLUDE_TENSOR_INIT
    call struct('postlude_tensor', c_sizeof(tensor), tensor%size, c_loc(tensor%size))
    call field('data', c_loc(tensor%data))
    call field('dtype', c_loc(tensor%dtype))
    call field('rank', c_loc(tensor%rank))
    call field('extent', c_loc(tensor%extent(1)))
    call field('stride', c_loc(tensor%stride(1)))
    call field('memory_space', c_loc(tensor%memory_space))
    call field('reserved', c_loc(tensor%reserved))

    problem = POSTLUDE_PROBLEM_INIT
    call struct('postlude_problem', c_sizeof(problem), problem%size, c_loc(problem%size))
    call field('x', c_loc(problem%x%size))
    call field('w', c_loc(problem%w%size))
    call field('compute', c_loc(problem%compute))
    call field('reserved', c_loc(problem%reserved))
    call check(problem%x%size == c_sizeof(tensor), 'the size of postlude_problem.x')

    operand = POSTLUDE_OPERAND_INIT
    call struct('postlude_operand', c_sizeof(operand), operand%size, c_loc(operand%size))
    call field('name', c_loc(operand%name))
    call field('kind', c_loc(operand%kind))
    call field('is_batched', c_loc(operand%is_batched))

    plan_options = POSTLUDE_PLAN_OPTIONS_INIT
    call struct('postlude_plan_options', c_sizeof(plan_options), plan_options%size, &
                c_loc(plan_options%size))
    call field('layout', c_loc(plan_options%layout))
    call field('compilation', c_loc(plan_options%compilation))
    call field('engine', c_loc(plan_options%engine))
    call field('expression_length', c_loc(plan_options%expression_length))
    call field('gemm_choice', c_loc(plan_options%gemm_choice))
    call field('autotune', c_loc(plan_options%autotune))
    call field('reserved', c_loc(plan_options%reserved))
    call field('without_rewrites', c_loc(plan_options%without_rewrites))

    argument = POSTLUDE_ARGUMENT_INIT
    call struct('postlude_argument', c_sizeof(argument), argument%size, c_loc(argument%size))
    call field('keyword', c_loc(argument%keyword))
    call field('value', c_loc(argument%value))

    info = POSTLUDE_RESULT_INFO_INIT
    call struct('postlude_result_info', c_sizeof(info), info%size, c_loc(info%size))
    call field('name', c_loc(info%name))
    call field('dtype', c_loc(info%dtype))
    call field('extent', c_loc(info%extent(1)))

    value = POSTLUDE_OPERAND_VALUE_INIT
    call struct('postlude_operand_value', c_sizeof(value), value%size, c_loc(value%size))
    call field('scalar', c_loc(value%scalar))
    call field('tensor', c_loc(value%tensor%size))
    call check(value%tensor%size == c_sizeof(tensor), 'the size of postlude_operand_value.tensor')

    bindings = POSTLUDE_BINDINGS_INIT
    call struct('postlude_bindings', c_sizeof(bindings), bindings%size, c_loc(bindings%size))
    call field('x', c_loc(bindings%x%size))
    call field('w', c_loc(bindings%w%size))
    call field('operands', c_loc(bindings%operands))
    call field('operand_count', c_loc(bindings%operand_count))
    call field('outputs', c_loc(bindings%outputs))
    call field('output_count', c_loc(bindings%output_count))
    call field('workspace', c_loc(bindings%workspace))
    call field('workspace_bytes', c_loc(bindings%workspace_bytes))
    call field('weights', c_loc(bindings%weights))

    check_result = POSTLUDE_CHECK_RESULT_INIT
    call struct('postlude_check_result', c_sizeof(check_result), check_result%size, &
                c_loc(check_result%size))
    call field('elements', c_loc(check_result%elements))
    call field('violations', c_loc(check_result%violations))
    call field('largest_absolute_error', c_loc(check_result%largest_absolute_error))
    call field('largest_relative_error', c_loc(check_result%largest_relative_error))
    call field('tolerance', c_loc(check_result%tolerance))

    call check(position == expected_count(), 'all structs and fields were compared')
  end subroutine structs_are_laid_out_as_in_c

  !> A new struct: its size, the size that its initializer gives, and where it starts.
  subroutine struct(name, bytes, size, first)
    character(len=*), intent(in) :: name
    integer(c_size_t), intent(in) :: bytes, size
    type(c_ptr), intent(in) :: first

    current = name
    start = first
    position = position + 1
    call check(bytes == expected(position), 'the size of ' // name)
    call check(size == bytes, 'the size that ' // name // ' starts with')
  end subroutine struct

  subroutine field(name, address)
    character(len=*), intent(in) :: name
    type(c_ptr), intent(in) :: address
    integer(c_intptr_t) :: bytes

    position = position + 1
    bytes = transfer(address, bytes) - transfer(start, bytes)
    call check(bytes == expected(position), 'the place of ' // current // '.' // name)
  end subroutine field
end module test_layout
