!> Plans: what a plan was made for, and the check of arrays against it in the words of Fortran.
submodule (postlude) plans
  use, intrinsic :: iso_c_binding, only: c_char, c_int64_t, c_loc, c_null_char, c_size_t
  implicit none

contains

  ! ---- The procedures that are called ------------------------------------------------------------

  module procedure create_real32
    type(failure) :: fault

    call make_plan(this, expression, view_of(x), view_of(w), operands, context, &
                   is_true(strided_results), engine, is_true(autotune), without_rewrites, fault)
    call report(fault, stat, errmsg)
  end procedure create_real32

  module procedure create_real64
    type(failure) :: fault

    call make_plan(this, expression, view_of(x), view_of(w), operands, context, &
                   is_true(strided_results), engine, is_true(autotune), without_rewrites, fault)
    call report(fault, stat, errmsg)
  end procedure create_real64

  module procedure execute_real32_2
    type(failure) :: fault

    call run_plan(this, [view_of(out)], view_of(x), view_of(w), operands, stream, fault)
    call report(fault, stat, errmsg)
  end procedure execute_real32_2

  module procedure execute_real32_1
    type(failure) :: fault

    call run_plan(this, [view_of(out)], view_of(x), view_of(w), operands, stream, fault)
    call report(fault, stat, errmsg)
  end procedure execute_real32_1

  module procedure execute_real32_into
    type(failure) :: fault

    call run_plan(this, out%view, view_of(x), view_of(w), operands, stream, fault)
    call report(fault, stat, errmsg)
  end procedure execute_real32_into

  module procedure execute_real64_2
    type(failure) :: fault

    call run_plan(this, [view_of(out)], view_of(x), view_of(w), operands, stream, fault)
    call report(fault, stat, errmsg)
  end procedure execute_real64_2

  module procedure execute_real64_1
    type(failure) :: fault

    call run_plan(this, [view_of(out)], view_of(x), view_of(w), operands, stream, fault)
    call report(fault, stat, errmsg)
  end procedure execute_real64_1

  module procedure execute_real64_into
    type(failure) :: fault

    call run_plan(this, out%view, view_of(x), view_of(w), operands, stream, fault)
    call report(fault, stat, errmsg)
  end procedure execute_real64_into

  pure function is_true(flag) result(answer)
    logical, intent(in), optional :: flag
    logical :: answer

    answer = .false.
    if (present(flag)) answer = flag
  end function is_true

  module procedure explain_plan
    type(failure) :: fault
    type(c_ptr) :: words

    text = ''
    call require_plan(this, fault)
    if (fault%status == POSTLUDE_SUCCESS) then
      words = c_null_ptr
      call note(fault, postlude_plan_explain(this%state%handle, words))
      text = text_at(words)
    end if
    call report(fault, stat, errmsg)
  end procedure explain_plan

  module procedure destroy_plan
    integer(c_int32_t) :: status

    if (.not. associated(this%state)) return
    this%state%owners = this%state%owners - 1
    if (this%state%owners == 0) then
      ! A plan that cannot be destroyed is left to the end of the process.
      status = postlude_plan_destroy(this%state%handle)
      deallocate (this%state)
    end if
    nullify (this%state)
  end procedure destroy_plan

  module procedure share_plan
    if (associated(this%state, from%state)) return
    call this%destroy()
    this%state => from%state
    if (associated(this%state)) this%state%owners = this%state%owners + 1
  end procedure share_plan

  module procedure finalize_plan
    call this%destroy()
  end procedure finalize_plan

  subroutine require_plan(this, fault)
    class(linear_plan), intent(in) :: this
    type(failure), intent(inout) :: fault

    if (.not. associated(this%state)) &
      call fail(fault, POSTLUDE_INVALID_ARGUMENT, &
                'the plan was not created, or was destroyed: expected one after create')
  end subroutine require_plan

  ! ---- Making a plan -----------------------------------------------------------------------------

  module procedure make_plan
    type(linear_context) :: own_context
    type(plan_state), pointer :: state

    call this%destroy()
    call require_problem(x, w, fault)
    if (fault%status /= POSTLUDE_SUCCESS) return

    if (present(context)) then
      if (.not. associated(context%state)) &
        call fail(fault, POSTLUDE_INVALID_ARGUMENT, &
                  'context was not created, or was destroyed: expected one after create')
      own_context = context
    else
      call make_host_context(own_context, fault)
    end if
    if (fault%status /= POSTLUDE_SUCCESS) return

    allocate (state)
    state%memory_space = own_context%state%memory_space
    state%x = x%tensor
    state%w = w%tensor
    state%samples = x%tensor%extent(2)
    state%out_features = w%tensor%extent(1)
    state%takes_strided_results = strided_results
    call set_operands(state, operands, fault)
    if (fault%status == POSTLUDE_SUCCESS) &
      call compile(state, own_context%state%handle, expression, engine, autotune, &
                   without_rewrites, fault)
    if (fault%status == POSTLUDE_SUCCESS) call ask_results(state, fault)
    this%state => state
    if (fault%status /= POSTLUDE_SUCCESS) call this%destroy()
    call own_context%destroy()
  end procedure make_plan

  subroutine require_problem(x, w, fault)
    type(array_view), intent(in) :: x, w
    type(failure), intent(inout) :: fault

    call require_usable(x, 'x', fault)
    call require_usable(w, 'w', fault)
    if (x%tensor%extent(1) /= w%tensor%extent(2)) &
      call fail(fault, POSTLUDE_SHAPE_MISMATCH, &
                'x has shape ' // shape_text(x%tensor) // ' and w has shape ' // &
                shape_text(w%tensor) // ': expected x(k,m) and w(n,k) with the same k')
  end subroutine require_problem

  subroutine set_operands(state, operands, fault)
    type(plan_state), intent(inout) :: state
    type(operand), intent(in), optional :: operands(:)
    type(failure), intent(inout) :: fault
    integer :: count, i

    count = 0
    if (present(operands)) count = size(operands)
    allocate (state%names(count), state%kinds(count))
    do i = 1, count
      state%names(i) = operands(i)%name
      state%kinds(i) = kind_of(operands(i), state%out_features, state%samples)
      call require_operand(state, operands(i), state%kinds(i), fault)
    end do
  end subroutine set_operands

  !> How an operand relates to y, as its shape tells; 0 when it does not fit.
  pure function kind_of(given, out_features, samples) result(kind)
    type(operand), intent(in) :: given
    integer(int64), intent(in) :: out_features, samples
    integer(c_int32_t) :: kind
    integer(int64) :: extent(2)

    kind = 0
    extent = given%view%tensor%extent(:2)
    if (given%is_scalar) then
      kind = POSTLUDE_SCALAR
    else if (given%view%tensor%rank == 1) then
      if (extent(1) == out_features) kind = POSTLUDE_ROW
    else if (all(extent == [out_features, samples])) then
      kind = POSTLUDE_MATRIX
    else if (all(extent == 1)) then
      kind = POSTLUDE_ELEMENT
    else if (all(extent == [out_features, 1_int64])) then
      kind = POSTLUDE_ROW
    else if (all(extent == [1_int64, samples])) then
      kind = POSTLUDE_COLUMN
    end if
  end function kind_of

  !> Fails when an operand cannot be used, or is not of the kind that the plan has for it.
  subroutine require_operand(state, given, planned_kind, fault)
    type(plan_state), intent(in) :: state
    type(operand), intent(in) :: given
    integer(c_int32_t), intent(in) :: planned_kind
    type(failure), intent(inout) :: fault
    character(len=:), allocatable :: n, m, what
    integer(c_int32_t) :: kind

    what = 'operand ''' // trim(given%name) // ''''
    if (given%written_length > name_length) then
      call fail(fault, POSTLUDE_INVALID_ARGUMENT, &
                what // '... has a name of ' // number_text(int(given%written_length, int64)) // &
                ' characters: expected ' // number_text(int(name_length, int64)) // ' at most')
      return
    end if
    if (.not. given%is_scalar) call require_usable(given%view, what, fault)

    n = number_text(state%out_features)
    m = number_text(state%samples)
    kind = kind_of(given, state%out_features, state%samples)
    if (kind == 0) then
      call fail(fault, POSTLUDE_SHAPE_MISMATCH, &
                what // ' has shape ' // shape_text(given%view%tensor) // ': expected a scalar, (' // &
                n // '), (' // n // ',1), (1,' // m // ') or (' // n // ',' // m // ')')
    else if (kind /= planned_kind .and. given%is_scalar) then
      call fail(fault, POSTLUDE_INVALID_ARGUMENT, &
                what // ' is a scalar: the plan was made for an array')
    else if (kind /= planned_kind .and. planned_kind == POSTLUDE_SCALAR) then
      call fail(fault, POSTLUDE_INVALID_ARGUMENT, &
                what // ' is an array: the plan was made for a scalar')
    else if (kind /= planned_kind) then
      call fail(fault, POSTLUDE_SHAPE_MISMATCH, &
                what // ' has shape ' // shape_text(given%view%tensor) // &
                ': the plan was made for an operand of another shape')
    end if
  end subroutine require_operand

  subroutine compile(state, context, expression, engine, autotune, without_rewrites, fault)
    type(plan_state), intent(inout) :: state
    type(c_ptr), intent(in) :: context
    character(len=*), intent(in) :: expression
    character(len=*), intent(in), optional :: engine
    logical, intent(in) :: autotune
    character(len=*), intent(in), optional :: without_rewrites
    type(failure), intent(inout) :: fault
    type(postlude_problem) :: problem
    type(postlude_operand), allocatable, target :: operands(:)
    type(postlude_plan_options), target :: options
    character(kind=c_char, len=name_length + 1), allocatable, target :: names(:)
    character(kind=c_char, len=:), allocatable, target :: engine_name, rewrites
    integer :: i

    if (index(expression, c_null_char) /= 0) then
      call fail(fault, POSTLUDE_SYNTAX_ERROR, 'expression has a NUL at character ' // &
                number_text(int(index(expression, c_null_char), int64)) // ': expected none')
      return
    end if

    problem = POSTLUDE_PROBLEM_INIT
    problem%x = turned(state%x)
    problem%w = state%w
    ! Only the shapes count; the addresses are those of one execution.
    problem%x%data = c_null_ptr
    problem%w%data = c_null_ptr

    allocate (operands(size(state%names)), names(size(state%names)))
    do i = 1, size(operands)
      operands(i) = POSTLUDE_OPERAND_INIT
      names(i) = trim(state%names(i)) // c_null_char
      operands(i)%name = c_loc(names(i))
      operands(i)%kind = state%kinds(i)
    end do

    ! A column of a Fortran array is a row of the library's.
    options = POSTLUDE_PLAN_OPTIONS_INIT
    if (state%takes_strided_results) options%layout = POSTLUDE_ANY_LAYOUT
    if (present(engine)) then
      engine_name = trim(engine) // c_null_char
      options%engine = c_loc(engine_name)
    end if
    if (autotune) options%autotune = 1
    if (present(without_rewrites)) then
      rewrites = trim(without_rewrites) // c_null_char
      options%without_rewrites = c_loc(rewrites)
    end if

    call note(fault, postlude_plan_create(context, problem, trim(expression) // c_null_char, &
                                          address_of(operands), size(operands, kind=c_size_t), &
                                          c_loc(options), state%handle))
  end subroutine compile

  !> c_loc of an array, which may have no elements.
  function address_of(operands) result(address)
    type(postlude_operand), target, intent(in) :: operands(:)
    type(c_ptr) :: address

    address = c_null_ptr
    if (size(operands) > 0) address = c_loc(operands(1))
  end function address_of

  subroutine ask_results(state, fault)
    type(plan_state), intent(inout) :: state
    type(failure), intent(inout) :: fault
    integer(c_size_t) :: count, i

    count = 0
    call note(fault, postlude_plan_result_count(state%handle, count))
    allocate (state%results(count))
    do i = 1, count
      state%results(i) = POSTLUDE_RESULT_INFO_INIT
      call note(fault, postlude_plan_result(state%handle, i - 1, state%results(i)))
    end do
  end subroutine ask_results

  ! ---- Executing a plan --------------------------------------------------------------------------

  module procedure run_plan
    type(postlude_bindings) :: bindings
    type(postlude_operand_value), allocatable, target :: values(:)
    type(postlude_tensor), allocatable, target :: outputs(:)
    type(c_ptr) :: execution_stream
    integer :: i

    call require_plan(this, fault)
    if (fault%status /= POSTLUDE_SUCCESS) return
    call require_as_planned(x, this%state%x, 'x', fault)
    call require_as_planned(w, this%state%w, 'w', fault)
    call require_results(this%state, out, fault)
    allocate (values(size(this%state%names)), outputs(size(out)))
    call set_values(this%state, operands, values, fault)
    if (fault%status /= POSTLUDE_SUCCESS) return

    do i = 1, size(out)
      outputs(i) = placed(turned(out(i)%tensor), this%state%memory_space)
    end do
    bindings = POSTLUDE_BINDINGS_INIT
    bindings%x = placed(turned(x%tensor), this%state%memory_space)
    bindings%w = placed(w%tensor, this%state%memory_space)
    bindings%operand_count = size(values, kind=c_size_t)
    if (size(values) > 0) bindings%operands = c_loc(values(1))
    bindings%output_count = size(outputs, kind=c_size_t)
    if (size(outputs) > 0) bindings%outputs = c_loc(outputs(1))

    execution_stream = c_null_ptr
    if (present(stream)) execution_stream = stream
    call note(fault, postlude_execute(this%state%handle, bindings, execution_stream))
    if (fault%status == POSTLUDE_SHAPE_MISMATCH .or. fault%status == POSTLUDE_UNSUPPORTED) &
      call explain_strided_results(this%state, out, fault)
  end procedure run_plan

  pure function placed(tensor, memory_space) result(other)
    type(postlude_tensor), intent(in) :: tensor
    integer(c_int32_t), intent(in) :: memory_space
    type(postlude_tensor) :: other

    other = tensor
    other%memory_space = memory_space
  end function placed

  subroutine require_as_planned(given, planned, name, fault)
    type(array_view), intent(in) :: given
    type(postlude_tensor), intent(in) :: planned
    character(len=*), intent(in) :: name
    type(failure), intent(inout) :: fault
    type(postlude_tensor) :: strides(2)
    integer :: i

    call require_usable(given, name, fault)
    if (given%tensor%dtype /= planned%dtype) then
      call fail(fault, POSTLUDE_SHAPE_MISMATCH, &
                name // ' is of kind ' // kind_name(given%tensor) // ': the plan was made for ' // &
                kind_name(planned))
    else if (any(given%tensor%extent /= planned%extent)) then
      call fail(fault, POSTLUDE_SHAPE_MISMATCH, &
                name // ' has shape ' // shape_text(given%tensor) // ': the plan was made for ' // &
                shape_text(planned))
    else if (any(given%tensor%stride /= planned%stride .and. planned%extent > 1)) then
      strides = [given%tensor, planned]
      do i = 1, size(strides)
        strides(i)%extent = strides(i)%stride
      end do
      call fail(fault, POSTLUDE_SHAPE_MISMATCH, &
                name // ' has strides ' // shape_text(strides(1)) // ': the plan was made for ' // &
                shape_text(strides(2)))
    end if
  end subroutine require_as_planned

  pure function kind_name(tensor) result(name)
    type(postlude_tensor), intent(in) :: tensor
    character(len=:), allocatable :: name

    select case (tensor%dtype)
    case (POSTLUDE_FLOAT32)
      name = 'real32'
    case (POSTLUDE_FLOAT64)
      name = 'real64'
    case default
      name = 'int64'
    end select
  end function kind_name

  subroutine require_results(state, out, fault)
    type(plan_state), intent(in) :: state
    type(array_view), intent(in) :: out(:)
    type(failure), intent(inout) :: fault
    type(postlude_tensor) :: planned
    character(len=:), allocatable :: name
    integer :: i

    if (size(out) /= size(state%results)) then
      call fail(fault, POSTLUDE_INVALID_ARGUMENT, &
                'out is ' // number_text(int(size(out), int64)) // ' arrays: expected ' // &
                number_text(int(size(state%results), int64)) // ', one for each result')
      return
    end if
    do i = 1, size(out)
      name = 'out'
      if (size(out) > 1) name = 'out(' // number_text(int(i, int64)) // ')'
      call require_usable(out(i), name, fault)
      planned%rank = 2
      planned%extent(1) = state%results(i)%extent(3)
      planned%extent(2) = state%results(i)%extent(2)
      if (.not. fits(out(i)%tensor, planned%extent(:2))) &
        call fail(fault, POSTLUDE_SHAPE_MISMATCH, &
                  name // ' has shape ' // shape_text(out(i)%tensor) // ': expected ' // &
                  shape_text(planned) // ', that of ''' // text_at(state%results(i)%name) // '''')
    end do
  end subroutine require_results

  !> A result of one row or column goes into an array of rank 1 too.
  pure function fits(given, extents) result(answer)
    type(postlude_tensor), intent(in) :: given
    integer(int64), intent(in) :: extents(2)
    logical :: answer

    if (given%rank == 1) then
      answer = any(extents == 1) .and. given%extent(1) == product(extents)
    else
      answer = all(given%extent(:2) == extents)
    end if
  end function fits

  !> Puts the operands in the plan's order.
  subroutine set_values(state, operands, values, fault)
    type(plan_state), intent(in) :: state
    type(operand), intent(in), optional :: operands(:)
    type(postlude_operand_value), intent(inout) :: values(:)
    type(failure), intent(inout) :: fault
    logical :: is_set(size(values))
    integer :: i, j

    is_set = .false.
    if (present(operands)) then
      do i = 1, size(operands)
        j = position(state%names, operands(i)%name)
        if (j == 0) then
          call fail(fault, POSTLUDE_UNKNOWN_NAME, &
                    'operand ''' // trim(operands(i)%name) // ''' is no operand of the plan')
          return
        end if
        if (is_set(j)) &
          call fail(fault, POSTLUDE_INVALID_ARGUMENT, &
                    'operand ''' // trim(operands(i)%name) // ''' is given twice')
        call require_operand(state, operands(i), state%kinds(j), fault)
        is_set(j) = .true.
        values(j) = POSTLUDE_OPERAND_VALUE_INIT
        values(j)%scalar = operands(i)%scalar
        if (.not. operands(i)%is_scalar) &
          values(j)%tensor = placed(turned(operands(i)%view%tensor), state%memory_space)
      end do
    end if
    do j = 1, size(values)
      if (.not. is_set(j)) &
        call fail(fault, POSTLUDE_MISSING_OPERAND, &
                  'operand ''' // trim(state%names(j)) // ''' has no value')
    end do
  end subroutine set_values

  pure function position(names, name) result(index)
    character(len=*), intent(in) :: names(:), name
    integer :: index

    do index = size(names), 1, -1
      if (names(index) == name) return
    end do
  end function position

  !> The library speaks of layouts, which a Fortran program does not name.
  subroutine explain_strided_results(state, out, fault)
    type(plan_state), intent(in) :: state
    type(array_view), intent(in) :: out(:)
    type(failure), intent(inout) :: fault
    integer :: i

    if (state%takes_strided_results) return
    do i = 1, size(out)
      if (is_natural(out(i), state%x%dtype)) cycle
      fault%text = fault%text // '. Make the plan with strided_results=.true. for results that ' // &
                   'are strided along their columns, or of another kind than x'
      return
    end do
  end subroutine explain_strided_results

end submodule plans
