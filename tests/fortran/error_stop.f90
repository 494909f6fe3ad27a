!> Without stat=, an error ends the program. This program has to end before its last line.
program error_stop
  use postlude, only: linear
  implicit none
  real :: x(3, 5), w(7, 4), out(7, 5)

  x = 0
  w = 0
  call linear(out, 'y', x, w)
  print '(a)', 'went on'
end program error_stop
