/* Sizes and offsets of the structs of postlude.h, in the order of test_layout.f90. */

#include <postlude.h>
#include <stddef.h>

#define SIZE(type) sizeof(type)
#define AT(type, field) offsetof(type, field)

static const size_t layout[] = {SIZE(postlude_context_options),
                                AT(postlude_context_options, backend),
                                AT(postlude_context_options, device),
                                AT(postlude_context_options, stream),
                                AT(postlude_context_options, threads), AT(postlude_context_options, stages_host_memory),

                                SIZE(postlude_tensor),
                                AT(postlude_tensor, data),
                                AT(postlude_tensor, dtype),
                                AT(postlude_tensor, rank),
                                AT(postlude_tensor, extent),
                                AT(postlude_tensor, stride),
                                AT(postlude_tensor, memory_space),
                                AT(postlude_tensor, reserved),

                                SIZE(postlude_problem),
                                AT(postlude_problem, x),
                                AT(postlude_problem, w),
                                AT(postlude_problem, compute), AT(postlude_problem, reserved),

                                SIZE(postlude_operand),
                                AT(postlude_operand, name),
                                AT(postlude_operand, kind),
                                AT(postlude_operand, is_batched),

                                SIZE(postlude_plan_options),
                                AT(postlude_plan_options, layout),
                                AT(postlude_plan_options, compilation),
                                AT(postlude_plan_options, engine),
    AT(postlude_plan_options, expression_length),
    AT(postlude_plan_options, gemm_choice),
    AT(postlude_plan_options, autotune),
    AT(postlude_plan_options, reserved),
    AT(postlude_plan_options, without_rewrites),

                                SIZE(postlude_argument), AT(postlude_argument, keyword), AT(postlude_argument, value),

    SIZE(postlude_result_info),
                                AT(postlude_result_info, name),
                                AT(postlude_result_info, dtype),
                                AT(postlude_result_info, extent),

                                SIZE(postlude_operand_value),
                                AT(postlude_operand_value, scalar),
                                AT(postlude_operand_value, tensor),

                                SIZE(postlude_bindings),
                                AT(postlude_bindings, x),
                                AT(postlude_bindings, w),
                                AT(postlude_bindings, operands),
                                AT(postlude_bindings, operand_count),
                                AT(postlude_bindings, outputs),
                                AT(postlude_bindings, output_count),
                                AT(postlude_bindings, workspace),
                                AT(postlude_bindings, workspace_bytes),
                                AT(postlude_bindings, weights),

                                SIZE(postlude_check_result),
                                AT(postlude_check_result, elements),
                                AT(postlude_check_result, violations),
                                AT(postlude_check_result, largest_absolute_error),
                                AT(postlude_check_result, largest_relative_error),
                                AT(postlude_check_result, tolerance)};

int32_t postlude_test_layout_count(void) { return sizeof(layout) / sizeof(layout[0]); }

size_t postlude_test_layout(int32_t position) { return layout[position - 1]; }
