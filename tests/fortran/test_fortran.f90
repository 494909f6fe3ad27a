!> The Fortran module as its user sees it, on the backends that it chooses and on Serial.

module suite_real32
  use, intrinsic :: iso_fortran_env, only: int64, real32, real64
  use checks, only: begin, check, check_close, check_error
  use postlude
  implicit none
  private
  public :: run_suite

  integer, parameter :: wp = real32

  type :: pair_type
    real(real32) :: number
    real(real64) :: other
  end type pair_type

  include 'suite.inc'
end module suite_real32

module suite_real64
  use, intrinsic :: iso_fortran_env, only: int64, real32, real64
  use checks, only: begin, check, check_close, check_error
  use postlude
  implicit none
  private
  public :: run_suite

  integer, parameter :: wp = real64

  type :: pair_type
    real(real64) :: number
    real(real32) :: other
  end type pair_type

  include 'suite.inc'
end module suite_real64

program test_fortran
  use, intrinsic :: iso_fortran_env, only: real32, real64
  use checks, only: begin, check, check_error, finish
  use postlude
  use suite_real32, only: run_suite_real32 => run_suite
  use suite_real64, only: run_suite_real64 => run_suite
  use test_layout, only: structs_are_laid_out_as_in_c
  implicit none

  call structs_are_laid_out_as_in_c()
  call contexts()
  call kinds_do_not_mix()
  call run_suite_real32()
  call run_suite_real64()
  call finish()

contains

  subroutine contexts()
    type(linear_context) :: context, other
    type(linear_plan) :: plan
    real(real32) :: x(2, 3), w(4, 2), out(4, 3)
    integer :: stat
    character(len=200) :: text

    call begin('a context is created, shared and destroyed')
    call check(context%backend() == '', 'no backend before create')
    call context%synchronize(stat=stat, errmsg=text)
    call check_error(stat, text, POSTLUDE_INVALID_ARGUMENT, 'was not created')
    call context%create()
    call check(context%backend() /= '', 'a host backend by default')
    call context%create(backend=POSTLUDE_BACKEND_SERIAL)
    call check(context%backend() == 'serial', 'the serial backend')
    call context%synchronize()

    x = 1
    w = 2
    call plan%create('y + 1', x, w, context=context)
    other = context
    call context%destroy()
    call other%synchronize(stat=stat)
    call check(stat == 0, 'its copy lives on')
    call linear(out, 'y + 1', x, w, context=other)
    call check(all(out == 5), 'linear runs on it')
    call other%destroy()
    call other%destroy()
    out = 0
    call plan%execute(out, x, w)
    call check(all(out == 5), 'its plan lives on')

    call context%create(backend=99, stat=stat, errmsg=text)
    call check_error(stat, text, POSTLUDE_INVALID_ARGUMENT, '99')
    call context%create(backend=POSTLUDE_BACKEND_SYCL, stat=stat, errmsg=text)
    call check_error(stat, text, POSTLUDE_UNSUPPORTED, 'sycl')
    call context%create(threads=-1, stat=stat, errmsg=text)
    call check_error(stat, text, POSTLUDE_INVALID_ARGUMENT, 'threads')
  end subroutine contexts

  subroutine kinds_do_not_mix()
    type(linear_plan) :: plan
    real(real32) :: x(2, 3), w(4, 2)
    real(real64) :: wide_x(2, 3), wide_w(4, 2), wide_out(4, 3)
    integer :: stat
    character(len=200) :: text

    call begin('a plan for real32 refuses real64')
    call plan%create('y', x, w)
    call plan%execute(wide_out, wide_x, wide_w, stat=stat, errmsg=text)
    call check_error(stat, text, POSTLUDE_SHAPE_MISMATCH, &
                     'x is of kind real64: the plan was made for real32')
  end subroutine kinds_do_not_mix
end program test_fortran
