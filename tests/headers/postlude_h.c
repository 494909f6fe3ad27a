/* postlude.h included twice, each of its initialisers used, and nothing else included. */

#include <postlude.h>
/* Again. */
#include <postlude.h>

void postlude_initializers(void);

void postlude_initializers(void) {
  postlude_context_options context_options = POSTLUDE_CONTEXT_OPTIONS_INIT;
  postlude_tensor tensor = POSTLUDE_TENSOR_INIT;
  postlude_problem problem = POSTLUDE_PROBLEM_INIT;
  postlude_operand operand = POSTLUDE_OPERAND_INIT;
  postlude_plan_options plan_options = POSTLUDE_PLAN_OPTIONS_INIT;
  postlude_result_info info = POSTLUDE_RESULT_INFO_INIT;
  postlude_operand_value value = POSTLUDE_OPERAND_VALUE_INIT;
  postlude_bindings bindings = POSTLUDE_BINDINGS_INIT;
  postlude_check_result check_result = POSTLUDE_CHECK_RESULT_INIT;
  (void)context_options;
  (void)tensor;
  (void)problem;
  (void)operand;
  (void)plan_options;
  (void)info;
  (void)value;
  (void)bindings;
  (void)check_result;
}
