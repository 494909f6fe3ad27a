!> Threads of an OpenMP program share a plan, and call linear, with results of their own.
program threads
  use checks, only: begin, check, finish
  use postlude, only: linear, linear_plan, operand
  implicit none
  integer, parameter :: n = 7, m = 5, k = 30, executions = 100
  real :: x(k, m), w(n, k), out(n, m)
  integer :: i, j, stat, failures, wrong
  type(linear_plan) :: plan

  do j = 1, m
    x(:, j) = [(real(mod(i * j, 11) - 5) / 4, i=1, k)]
  end do
  do j = 1, k
    w(:, j) = [(real(mod(i * j, 13) - 6) / 4, i=1, n)]
  end do
  call plan%create('y + c', x, w, [operand('c', 0)])

  call begin('threads share a plan')
  failures = 0
  wrong = 0
  !$omp parallel do private(out, stat) reduction(+: failures, wrong) schedule(dynamic)
  do i = 1, executions
    call plan%execute(out, x, w, [operand('c', i)], stat=stat)
    if (stat /= 0) failures = failures + 1
    if (any(out /= matmul(w, x) + i)) wrong = wrong + 1
  end do
  call check(failures == 0, 'stat of execute')
  call check(wrong == 0, 'results of execute')

  call begin('threads call linear')
  !$omp parallel do private(out, stat) reduction(+: failures, wrong) schedule(dynamic)
  do i = 1, executions
    call linear(out, 'y + c', x, w, [operand('c', i)], stat=stat)
    if (stat /= 0) failures = failures + 1
    if (any(out /= matmul(w, x) + i)) wrong = wrong + 1
  end do
  call check(failures == 0, 'stat of linear')
  call check(wrong == 0, 'results of linear')
  call finish()
end program threads
