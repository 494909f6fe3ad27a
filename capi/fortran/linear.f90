!> The one call: a plan that lives as long as the call does.
submodule (postlude) one_call
  implicit none

contains

  module procedure linear_real32_2
    call run([view_of(out)], expression, view_of(x), view_of(w), operands, context, stat, errmsg)
  end procedure linear_real32_2

  module procedure linear_real32_1
    call run([view_of(out)], expression, view_of(x), view_of(w), operands, context, stat, errmsg)
  end procedure linear_real32_1

  module procedure linear_real32_into
    call run(out%view, expression, view_of(x), view_of(w), operands, context, stat, errmsg)
  end procedure linear_real32_into

  module procedure linear_real64_2
    call run([view_of(out)], expression, view_of(x), view_of(w), operands, context, stat, errmsg)
  end procedure linear_real64_2

  module procedure linear_real64_1
    call run([view_of(out)], expression, view_of(x), view_of(w), operands, context, stat, errmsg)
  end procedure linear_real64_1

  module procedure linear_real64_into
    call run(out%view, expression, view_of(x), view_of(w), operands, context, stat, errmsg)
  end procedure linear_real64_into

  subroutine run(out, expression, x, w, operands, context, stat, errmsg)
    type(array_view), intent(in) :: out(:)
    character(len=*), intent(in) :: expression
    type(array_view), intent(in) :: x, w
    type(operand), intent(in), optional :: operands(:)
    type(linear_context), intent(in), optional :: context
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(linear_plan) :: plan
    type(failure) :: fault

    call make_plan(plan, expression, x, w, operands, context, &
                   .not. all(is_natural(out, x%tensor%dtype)), autotune=.false., fault=fault)
    if (fault%status == POSTLUDE_SUCCESS) &
      call run_plan(plan, out, x, w, operands, fault=fault)
    call plan%destroy()
    call report(fault, stat, errmsg)
  end subroutine run

end submodule one_call
