!> Where the elements of arrays are: views, operands, and targets of results.
submodule (postlude) arrays
  use, intrinsic :: iso_c_binding, only: c_int64_t, c_intptr_t, c_loc
  implicit none

contains

  ! ---- Views -------------------------------------------------------------------------------------
  ! The dummy arguments are pointers, since these know of strides that are no whole number of
  ! elements. The address of an element that has no neighbour in a dimension tells nothing of the
  ! stride there, and the stride does not matter then: it is made that of a contiguous array.

  module procedure view_real32_1
    integer :: l

    view%is_associated = associated(array)
    if (.not. associated(array)) return
    l = lbound(array, 1)
    view = empty_view(POSTLUDE_FLOAT32, shape(array, kind=c_int64_t))
    if (any(view%tensor%extent == 0)) return
    view%tensor%data = c_loc(array(l))
    if (view%tensor%extent(1) > 1) call set_stride(view, 1, c_loc(array(l + 1)), storage_size(array) / 8)
  end procedure view_real32_1

  module procedure view_real32_2
    integer :: l(2)

    view%is_associated = associated(array)
    if (.not. associated(array)) return
    l = lbound(array)
    view = empty_view(POSTLUDE_FLOAT32, shape(array, kind=c_int64_t))
    if (any(view%tensor%extent == 0)) return
    view%tensor%data = c_loc(array(l(1), l(2)))
    if (view%tensor%extent(1) > 1) &
      call set_stride(view, 1, c_loc(array(l(1) + 1, l(2))), storage_size(array) / 8)
    if (view%tensor%extent(2) > 1) &
      call set_stride(view, 2, c_loc(array(l(1), l(2) + 1)), storage_size(array) / 8)
  end procedure view_real32_2

  module procedure view_real64_1
    integer :: l

    view%is_associated = associated(array)
    if (.not. associated(array)) return
    l = lbound(array, 1)
    view = empty_view(POSTLUDE_FLOAT64, shape(array, kind=c_int64_t))
    if (any(view%tensor%extent == 0)) return
    view%tensor%data = c_loc(array(l))
    if (view%tensor%extent(1) > 1) call set_stride(view, 1, c_loc(array(l + 1)), storage_size(array) / 8)
  end procedure view_real64_1

  module procedure view_real64_2
    integer :: l(2)

    view%is_associated = associated(array)
    if (.not. associated(array)) return
    l = lbound(array)
    view = empty_view(POSTLUDE_FLOAT64, shape(array, kind=c_int64_t))
    if (any(view%tensor%extent == 0)) return
    view%tensor%data = c_loc(array(l(1), l(2)))
    if (view%tensor%extent(1) > 1) &
      call set_stride(view, 1, c_loc(array(l(1) + 1, l(2))), storage_size(array) / 8)
    if (view%tensor%extent(2) > 1) &
      call set_stride(view, 2, c_loc(array(l(1), l(2) + 1)), storage_size(array) / 8)
  end procedure view_real64_2

  module procedure view_int64_1
    integer :: l

    view%is_associated = associated(array)
    if (.not. associated(array)) return
    l = lbound(array, 1)
    view = empty_view(POSTLUDE_INT64, shape(array, kind=c_int64_t))
    if (any(view%tensor%extent == 0)) return
    view%tensor%data = c_loc(array(l))
    if (view%tensor%extent(1) > 1) call set_stride(view, 1, c_loc(array(l + 1)), storage_size(array) / 8)
  end procedure view_int64_1

  module procedure view_int64_2
    integer :: l(2)

    view%is_associated = associated(array)
    if (.not. associated(array)) return
    l = lbound(array)
    view = empty_view(POSTLUDE_INT64, shape(array, kind=c_int64_t))
    if (any(view%tensor%extent == 0)) return
    view%tensor%data = c_loc(array(l(1), l(2)))
    if (view%tensor%extent(1) > 1) &
      call set_stride(view, 1, c_loc(array(l(1) + 1, l(2))), storage_size(array) / 8)
    if (view%tensor%extent(2) > 1) &
      call set_stride(view, 2, c_loc(array(l(1), l(2) + 1)), storage_size(array) / 8)
  end procedure view_int64_2

  !> A view of a contiguous array that has no address yet.
  pure function empty_view(dtype, extents) result(view)
    integer(c_int32_t), intent(in) :: dtype
    integer(c_int64_t), intent(in) :: extents(:)
    type(array_view) :: view

    view%tensor = POSTLUDE_TENSOR_INIT
    view%tensor%dtype = dtype
    view%tensor%rank = size(extents, kind=c_int32_t)
    view%tensor%extent = 1
    view%tensor%extent(:size(extents)) = extents
    view%tensor%stride = [1_c_int64_t, max(view%tensor%extent(1), 1_c_int64_t), 1_c_int64_t]
  end function empty_view

  !> Sets a stride by the address of the first element's neighbour.
  pure subroutine set_stride(view, dimension, neighbour, element_bytes)
    type(array_view), intent(inout) :: view
    integer, intent(in) :: dimension
    type(c_ptr), intent(in) :: neighbour
    integer, intent(in) :: element_bytes
    integer(c_intptr_t) :: bytes

    bytes = transfer(neighbour, bytes) - transfer(view%tensor%data, bytes)
    view%tensor%stride(dimension) = int(bytes / element_bytes, c_int64_t)
    if (mod(bytes, int(element_bytes, c_intptr_t)) /= 0) view%has_whole_strides = .false.
  end subroutine set_stride

  module procedure turned
    other = tensor
    if (tensor%rank < 2) return
    other%extent(:2) = tensor%extent(2:1:-1)
    other%stride(:2) = tensor%stride(2:1:-1)
  end procedure turned

  module procedure is_natural
    associate (tensor => view%tensor)
      answer = tensor%dtype == dtype .and. (tensor%extent(1) <= 1 .or. tensor%stride(1) == 1)
      if (tensor%rank == 2) &
        answer = answer .and. (tensor%extent(2) <= 1 .or. &
                               tensor%stride(2) >= max(tensor%extent(1), 1_c_int64_t))
    end associate
  end procedure is_natural

  module procedure require_usable
    if (.not. view%is_associated) then
      call fail(fault, POSTLUDE_INVALID_ARGUMENT, &
                name // ' is a pointer that is not associated, or an array that is not allocated')
    else if (.not. view%has_whole_strides) then
      call fail(fault, POSTLUDE_INVALID_ARGUMENT, &
                name // ' has elements whose distance is not a whole number of elements: ' // &
                'expected an array, or a section, of numbers')
    end if
  end procedure require_usable

  ! ---- Texts -------------------------------------------------------------------------------------

  module procedure shape_text
    text = '(' // number_text(tensor%extent(1))
    if (tensor%rank == 2) text = text // ',' // number_text(tensor%extent(2))
    text = text // ')'
  end procedure shape_text

  module procedure number_text
    character(len=20) :: digits

    write (digits, '(i0)') number
    text = trim(digits)
  end procedure number_text

  ! ---- Operands ----------------------------------------------------------------------------------

  module procedure operand_scalar_real32
    made = named(name)
    made%scalar = real(value, real64)
  end procedure operand_scalar_real32

  module procedure operand_scalar_real64
    made = named(name)
    made%scalar = value
  end procedure operand_scalar_real64

  module procedure operand_scalar_int32
    made = named(name)
    made%scalar = real(value, real64)
  end procedure operand_scalar_int32

  module procedure operand_real32_1
    made = named(name)
    made%is_scalar = .false.
    made%view = view_of(value)
  end procedure operand_real32_1

  module procedure operand_real32_2
    made = named(name)
    made%is_scalar = .false.
    made%view = view_of(value)
  end procedure operand_real32_2

  module procedure operand_real64_1
    made = named(name)
    made%is_scalar = .false.
    made%view = view_of(value)
  end procedure operand_real64_1

  module procedure operand_real64_2
    made = named(name)
    made%is_scalar = .false.
    made%view = view_of(value)
  end procedure operand_real64_2

  pure function named(name) result(made)
    character(len=*), intent(in) :: name
    type(operand) :: made

    made%name = name
    made%written_length = len_trim(name)
  end function named

  ! ---- Targets of results ------------------------------------------------------------------------

  module procedure into_real32_1
    made%view = view_of(array)
  end procedure into_real32_1

  module procedure into_real32_2
    made%view = view_of(array)
  end procedure into_real32_2

  module procedure into_real64_1
    made%view = view_of(array)
  end procedure into_real64_1

  module procedure into_real64_2
    made%view = view_of(array)
  end procedure into_real64_2

  module procedure into_int64_1
    made%view = view_of(array)
  end procedure into_int64_1

  module procedure into_int64_2
    made%view = view_of(array)
  end procedure into_int64_2

end submodule arrays
