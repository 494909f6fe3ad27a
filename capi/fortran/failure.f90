!> Failures on their way to the caller, and the texts of C.
submodule (postlude) failures
  use, intrinsic :: iso_c_binding, only: c_associated, c_char, c_f_pointer, c_size_t
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none

  interface
    pure function c_strlen(text) bind(C, name='strlen') result(length)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: text
      integer(c_size_t) :: length
    end function c_strlen
  end interface

contains

  module procedure fail
    if (fault%status /= POSTLUDE_SUCCESS) return
    fault%status = status
    fault%text = text
  end procedure fail

  module procedure note
    if (status == POSTLUDE_SUCCESS) return
    call fail(fault, status, text_at(postlude_last_error_message()))
  end procedure note

  module procedure report
    if (fault%status == POSTLUDE_SUCCESS) then
      if (present(stat)) stat = 0
    else if (present(stat)) then
      stat = int(fault%status)
      if (present(errmsg)) errmsg = fault%text
    else
      write (error_unit, '(2a)') 'postlude: ', fault%text
      error stop 1
    end if
  end procedure report

  module procedure text_at
    character(kind=c_char), pointer :: characters(:)
    integer(c_size_t) :: i

    if (.not. c_associated(pointer)) then
      text = ''
      return
    end if
    call c_f_pointer(pointer, characters, [c_strlen(pointer)])
    allocate (character(len=size(characters)) :: text)
    do i = 1, size(characters, kind=c_size_t)
      text(i:i) = characters(i)
    end do
  end procedure text_at

end submodule failures
