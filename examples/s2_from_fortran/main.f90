!> A linear layer, the maximum over a dimension, less its mean, and GELU:
!!
!!     m = max(y + bias, dim=d); gelu(m - mean(m, dim=1)),  y = matmul(w, x)
!!
!! for d = 0, the largest value of each output feature in the batch, and d = 1, the largest of each
!! sample's output features, from plain Fortran arrays with features first.
program s2_from_fortran
  use, intrinsic :: iso_fortran_env, only: error_unit, real32, real64
  use postlude, only: linear, linear_plan, operand
  implicit none
  integer, parameter :: m = 5, n = 7, k = 300
  real(real32) :: x(k, m), w(n, k), over_batch(n), over_features(m)
  real(real32), target :: bias(n)
  real(real64) :: z(n, m), largest_of_feature(n), largest_of_sample(m)
  type(linear_plan) :: plan
  character(len=500) :: message
  integer :: i, j, stat, wrong

  call random_number(x)
  call random_number(w)
  call random_number(bias)
  w = (2 * w - 1) / sqrt(real(k))
  bias = (2 * bias - 1) / sqrt(real(k))

  ! One call, with errors as those of the language's own statements. A result of one row or column
  ! fits into an array of rank 1.
  call linear(over_batch, 'm = max(y + bias, dim=0); gelu(m - mean(m, dim=1))', x, w, &
              [operand('bias', bias)], stat=stat, errmsg=message)
  if (stat /= 0) then
    write (error_unit, '(a)') trim(message)
    error stop 1
  end if

  ! A plan is made once for its shapes, and may be executed many times. Without stat=, an error ends
  ! the program.
  call plan%create('m = max(y + bias, dim=1); gelu(m - mean(m, dim=1))', x, w, [operand('bias', bias)])
  call plan%execute(over_features, x, w, [operand('bias', bias)])

  ! The same in loops. The mean over dim=1 is that of the output features: of all seven maxima for
  ! d = 0, and of the only one for d = 1, which leaves nothing.
  do j = 1, m
    do i = 1, n
      z(i, j) = sum(real(w(i, :), real64) * real(x(:, j), real64)) + real(bias(i), real64)
    end do
  end do
  do i = 1, n
    largest_of_feature(i) = maxval(z(i, :))
  end do
  do j = 1, m
    largest_of_sample(j) = maxval(z(:, j))
  end do
  wrong = count_wrong(over_batch, gelu(largest_of_feature - sum(largest_of_feature) / n)) + &
          count_wrong(over_features, gelu(largest_of_sample - largest_of_sample))

  print '(a, 7f9.5)', 'd = 0: ', over_batch
  print '(a, 5f9.5)', 'd = 1: ', over_features
  print '(i0, a, i0, a)', wrong, ' of ', n + m, ' elements are wrong'
  if (wrong /= 0) error stop 1

contains

  elemental real(real64) function gelu(v)
    real(real64), intent(in) :: v

    gelu = v / 2 * (1 + erf(v / sqrt(2.0_real64)))
  end function gelu

  pure integer function count_wrong(found, expected)
    real(real32), intent(in) :: found(:)
    real(real64), intent(in) :: expected(:)

    count_wrong = count(.not. abs(found - expected) <= 1e-4_real64 + 1e-4_real64 * abs(expected))
  end function count_wrong
end program s2_from_fortran
