!> Named checks that print what failed and go on.
module checks
  use, intrinsic :: iso_fortran_env, only: error_unit, real32, real64
  implicit none
  private
  public :: begin, check, check_close, check_error, finish

  character(len=:), allocatable :: current_test
  integer :: check_count = 0, failure_count = 0

  !> |found - expected| <= t + t |expected|, t being 1e-4 for real32 and 1e-11 for real64.
  interface check_close
    procedure :: check_close_real32, check_close_real64
  end interface check_close

contains

  !> Names the checks that follow with a sentence that is true when they pass.
  subroutine begin(sentence)
    character(len=*), intent(in) :: sentence

    current_test = sentence
  end subroutine begin

  subroutine check(condition, what)
    logical, intent(in) :: condition
    character(len=*), intent(in) :: what

    check_count = check_count + 1
    if (condition) return
    failure_count = failure_count + 1
    write (error_unit, '(4a)') 'failed: ', current_test, ': ', what
  end subroutine check

  subroutine check_close_real64(found, expected, what)
    real(real64), intent(in) :: found(:, :), expected(:, :)
    character(len=*), intent(in) :: what

    call check_within(found, expected, 1e-11_real64, what)
  end subroutine check_close_real64

  subroutine check_close_real32(found, expected, what)
    real(real32), intent(in) :: found(:, :)
    real(real64), intent(in) :: expected(:, :)
    character(len=*), intent(in) :: what

    call check_within(real(found, real64), expected, 1e-4_real64, what)
  end subroutine check_close_real32

  subroutine check_within(found, expected, tolerance, what)
    real(real64), intent(in) :: found(:, :), expected(:, :), tolerance
    character(len=*), intent(in) :: what

    call check(all(shape(found) == shape(expected)), what // ' (shape)')
    if (any(shape(found) /= shape(expected))) return
    call check(all(abs(found - expected) <= tolerance + tolerance * abs(expected)), what)
  end subroutine check_within

  !> An error has the status `expected`, and its message contains `part`.
  subroutine check_error(stat, errmsg, expected, part)
    integer, intent(in) :: stat, expected
    character(len=*), intent(in) :: errmsg, part
    character(len=80) :: found

    write (found, '(2(a, i0))') 'stat is ', stat, ', expected ', expected
    call check(stat == expected, trim(found) // ': ' // trim(errmsg))
    call check(index(errmsg, part) /= 0, 'no "' // part // '" in the message: ' // trim(errmsg))
  end subroutine check_error

  subroutine finish()
    if (failure_count > 0) then
      write (error_unit, '(2(i0, a))') failure_count, ' of ', check_count, ' checks failed'
      error stop 1
    end if
    print '(i0, a)', check_count, ' checks passed'
  end subroutine finish
end module checks
