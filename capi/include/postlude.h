#ifndef POSTLUDE_H
#define POSTLUDE_H

/**
 * @file postlude.h
 * Linear layers with fused epilogues: out = epilogue(x w^T, operands...), on every Kokkos backend.
 *
 * Rules that hold for every function:
 * - It returns a postlude_status; POSTLUDE_SUCCESS is 0. No exception, abort or exit crosses this
 *   interface.
 * - After a failure postlude_last_error_message() describes it: the argument, its value, and what
 *   was expected.
 * - Everything is validated before an output is touched or work is launched, except for
 *   POSTLUDE_BACKEND_FAILURE.
 * - Once Kokkos has been finalised by the host, every function that takes a context or a plan
 *   answers POSTLUDE_NOT_INITIALIZED, apart from the destroy functions, which still succeed.
 * - Structs are passed by pointer and begin with their size; set them up with their _INIT macro.
 *   Fields are only ever appended. A size smaller than the struct's first version is refused with
 *   POSTLUDE_VERSION_MISMATCH, and so is a larger one than the library knows unless all bytes that
 *   it does not know are zero. Elements of an array are as far apart as its first element's size.
 *   postlude_tensor is part of other structs and never grows.
 * - Strings are UTF-8 and NUL-terminated. Sizes and strides are 64-bit, strides count elements.
 * - Handles are opaque; destroy functions accept NULL. A handle of another kind or one that was
 *   destroyed not long ago is answered with POSTLUDE_INVALID_ARGUMENT.
 */

#include <stddef.h>
#include <stdint.h>

/** What the library's functions are declared with. */
#if defined(_WIN32)
#define POSTLUDE_API
#else
#define POSTLUDE_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** Result of every call. Values are never renumbered. Since 0.1. */
typedef int32_t postlude_status;
enum {
  POSTLUDE_SUCCESS = 0,
  POSTLUDE_INVALID_ARGUMENT = 1,   /**< null, out of range, misaligned or contradictory argument */
  POSTLUDE_SYNTAX_ERROR = 2,       /**< the expression does not follow the grammar */
  POSTLUDE_UNKNOWN_NAME = 3,       /**< a name in an expression, binding or option is not known */
  POSTLUDE_SHAPE_MISMATCH = 4,     /**< shapes or strides do not fit together */
  POSTLUDE_MISSING_OPERAND = 5,    /**< an operand of the plan was not bound */
  POSTLUDE_UNSUPPORTED = 6,        /**< valid, but not served by this build, backend or engine */
  POSTLUDE_OVERLAP = 7,            /**< an output overlaps an input, another output or itself */
  POSTLUDE_WRONG_MEMORY_SPACE = 8, /**< memory that the backend cannot reach */
  POSTLUDE_NOT_INITIALIZED = 9,    /**< Kokkos was not initialised, or was finalised by the host */
  POSTLUDE_OUT_OF_MEMORY = 10,     /**< an allocation failed */
  POSTLUDE_BACKEND_FAILURE = 11,   /**< CUDA, BLAS, ... reported a failure */
  POSTLUDE_VERSION_MISMATCH = 12,  /**< struct size or library version that does not fit */
  POSTLUDE_INTERNAL_ERROR = 13     /**< a defect of Postlude itself */
};

/** Element types. Since 0.1. */
typedef int32_t postlude_dtype;
enum {
  POSTLUDE_FLOAT64 = 1,
  POSTLUDE_FLOAT32 = 2,
  POSTLUDE_FLOAT16 = 3,
  POSTLUDE_BFLOAT16 = 4,
  POSTLUDE_INT64 = 5 /**< results of argmax and argmin only */
};

/** Where elements live. Since 0.1. */
typedef int32_t postlude_memory_space;
enum {
  POSTLUDE_HOST = 1,   /**< ordinary or pinned host memory */
  POSTLUDE_DEVICE = 2, /**< memory of the context's accelerator */
  POSTLUDE_SHARED = 3  /**< memory that both reach (CUDA managed memory) */
};

/** Backends. Since 0.1. */
typedef int32_t postlude_backend;
enum {
  POSTLUDE_BACKEND_DEFAULT = 0, /**< the fastest one that the library was built with */
  POSTLUDE_BACKEND_SERIAL = 1,
  POSTLUDE_BACKEND_OPENMP = 2,
  POSTLUDE_BACKEND_THREADS = 3,
  POSTLUDE_BACKEND_CUDA = 4,
  POSTLUDE_BACKEND_HIP = 5,
  POSTLUDE_BACKEND_SYCL = 6
};

/** How the linear layer is computed. Since 0.1. */
typedef int32_t postlude_compute_mode;
enum {
  /** f64 for float64 and f32 for float32. Products of float16 or bfloat16 are exact and summed in
      float32, on tensor cores where the device has them. */
  POSTLUDE_COMPUTE_AUTOMATIC = 0,
  POSTLUDE_COMPUTE_F64 = 1, /**< IEEE float64 throughout */
  POSTLUDE_COMPUTE_F32 = 2, /**< float32, off by at most twice as much as a strict GEMM or by 2^-24
                                 sum |x||w|; float16 and bfloat16 are converted */
  /** Of float32: three products of float16 parts on tensor cores. Keeps 22 bits of every element and
      float32's range; long sums drift more than strict float32's. CUDA only. */
  POSTLUDE_COMPUTE_F32_EMULATED_F16X3 = 3,
  /** Of float32: products of TF32, which keeps 11 bits of every element. CUDA only. */
  POSTLUDE_COMPUTE_F32_FAST_TF32 = 4
};

/** How an operand's shape relates to y (M x N). Since 0.1. */
typedef int32_t postlude_operand_kind;
enum {
  POSTLUDE_SCALAR = 1, /**< one number, passed by value at each execution */
  POSTLUDE_ROW = 2,    /**< N elements or 1 x N: a bias */
  POSTLUDE_COLUMN = 3, /**< M elements or M x 1 */
  POSTLUDE_MATRIX = 4, /**< M x N */
  POSTLUDE_ELEMENT = 5 /**< one number in memory */
};

/**
 * Order of the results' elements. With ROW_MAJOR and COLUMN_MAJOR a plan may keep y in the memory
 * of a result of y's shape and finish it there; that result must then have the stated layout, any
 * leading dimension, and the dtype of the problem. ANY takes results of any strides and dtype and
 * keeps y in the workspace. Since 0.1.
 */
typedef int32_t postlude_layout;
enum {
  POSTLUDE_ROW_MAJOR = 1,    /**< the elements of a row are contiguous */
  POSTLUDE_COLUMN_MAJOR = 2, /**< the elements of a column are contiguous */
  POSTLUDE_ANY_LAYOUT = 3
};

/** A backend, device and stream on which plans are made and executed. */
typedef struct postlude_context postlude_context;
/** A program compiled for one problem and one context. Immutable. */
typedef struct postlude_plan postlude_plan;
/** w in the form in which a plan's engine computes with it. */
typedef struct postlude_weights postlude_weights;

/** Version of the library, major * 10000 + minor * 100 + patch. Never fails. Since 0.1. */
POSTLUDE_API int32_t postlude_version(void);
/** Version as text, "0.1.0". Static storage. Since 0.1. */
POSTLUDE_API const char *postlude_version_string(void);
/** Number that changes when programs must be relinked; 0 before 1.0. Since 0.1. */
POSTLUDE_API int32_t postlude_abi_version(void);

/** Constant name of a status, "unknown status" for a value out of range. Never NULL. Since 0.1. */
POSTLUDE_API const char *postlude_status_name(postlude_status status);

/**
 * Text of the last failure in the calling thread, "" when none has happened. It stays valid until
 * the thread's next failing call. Successful calls do not change it. Never NULL. Since 0.1.
 */
POSTLUDE_API const char *postlude_last_error_message(void);

/** Options of a context. Since 0.1. */
typedef struct postlude_context_options {
  size_t size;              /**< sizeof(postlude_context_options) */
  postlude_backend backend; /**< POSTLUDE_BACKEND_DEFAULT or one of the built ones */
  int32_t device;           /**< device number, -1 for the current one; ignored on CPUs */
  void *stream;             /**< cudaStream_t to use, which must outlive the context and its plans;
                                 NULL for a stream of the context's own; must be NULL on CPUs */
  int32_t threads;          /**< host threads, 1 to 512, if Kokkos is initialised here; 0 for all */
  int32_t stages_host_memory; /**< 1: tensors in host memory are copied to an accelerator and results
                                   back from it, and such an execution is complete on return and
                                   cannot be captured; 0: they are refused. No effect on CPUs */
} postlude_context_options;
/** Sets up a postlude_context_options. Since 0.1. */
#define POSTLUDE_CONTEXT_OPTIONS_INIT \
  { sizeof(postlude_context_options), POSTLUDE_BACKEND_DEFAULT, -1, NULL, 0, 0 }

/**
 * Creates a context. Initialises Kokkos when the host has not done so; the last context to be
 * destroyed leaves Kokkos initialised, since it cannot be initialised twice: it is finalised at
 * process exit, and only if it was initialised here.
 *
 * @param options NULL for defaults.
 * @param context receives the handle; NULL on failure. Destroy it with postlude_context_destroy.
 * Errors: INVALID_ARGUMENT, UNSUPPORTED (backend not built, or a device other than the one on which
 * Kokkos runs already), VERSION_MISMATCH (options->size), NOT_INITIALIZED (the host finalised
 * Kokkos), BACKEND_FAILURE (no such device). Threads: safe, but the host must not initialise Kokkos
 * at the same time. Since 0.1.
 */
POSTLUDE_API postlude_status postlude_context_create(const postlude_context_options *options,
                                                     postlude_context **context);
/**
 * Destroys a context; plans made with it stay valid. NULL is accepted, as is a context that
 * outlives Kokkos. Threads: not while another thread uses the handle. Since 0.1.
 */
POSTLUDE_API postlude_status postlude_context_destroy(postlude_context *context);
/** The backend that the context runs on. Errors: INVALID_ARGUMENT (null). Since 0.1. */
POSTLUDE_API postlude_status postlude_context_backend(const postlude_context *context,
                                                      postlude_backend *backend);
/** Waits until all work given to the context has finished. Errors: BACKEND_FAILURE. Since 0.1. */
POSTLUDE_API postlude_status postlude_context_synchronize(postlude_context *context);
/** Name of a backend, "cuda"; "unknown backend" for other values. Never NULL. Since 0.1. */
POSTLUDE_API const char *postlude_backend_name(postlude_backend backend);
/** 1 when the library was built with the backend, else 0. Since 0.1. */
POSTLUDE_API int32_t postlude_backend_available(postlude_backend backend);

/**
 * Allocates memory that the context's backend reads and writes, aligned to 256 bytes. 0 bytes give
 * NULL. Free it with postlude_free on a context of the same backend and device.
 * Errors: INVALID_ARGUMENT, OUT_OF_MEMORY. Since 0.1.
 */
POSTLUDE_API postlude_status postlude_allocate(postlude_context *context, size_t bytes,
                                               void **memory);
/**
 * Frees memory of postlude_allocate after pending work of the context; NULL is accepted.
 * Errors: INVALID_ARGUMENT (not an allocation of postlude_allocate, freed already, or made on
 * another backend), BACKEND_FAILURE. Since 0.1.
 */
POSTLUDE_API postlude_status postlude_free(postlude_context *context, void *memory);
/**
 * Copies between host memory and memory of the context: after all work given to the context, and
 * complete on return. The source is host memory for postlude_copy_to_backend and memory of the
 * backend for postlude_copy_to_host.
 * Errors: INVALID_ARGUMENT (null with bytes > 0), BACKEND_FAILURE. Since 0.1.
 */
POSTLUDE_API postlude_status postlude_copy_to_backend(postlude_context *context, void *destination,
                                                      const void *source, size_t bytes);
/** The same in the other direction. Since 0.1. */
POSTLUDE_API postlude_status postlude_copy_to_host(postlude_context *context, void *destination,
                                                   const void *source, size_t bytes);
/** The memory space that postlude_allocate gives: HOST on CPUs, DEVICE on accelerators. Since 0.1. */
POSTLUDE_API postlude_status postlude_context_memory_space(const postlude_context *context,
                                                           postlude_memory_space *space);

/**
 * A strided tensor of rank 1, 2 or 3 (batch, rows, columns), not owned. Element (i0, i1, i2) is at
 * data + i0*stride[0] + i1*stride[1] + i2*stride[2], in elements. Extents and strides beyond the
 * rank are ignored. `data` may be NULL when an extent is 0. Since 0.1.
 */
typedef struct postlude_tensor {
  size_t size; /**< sizeof(postlude_tensor) */
  void *data;          /**< element (0, 0, 0) */
  postlude_dtype dtype; /**< of the elements */
  int32_t rank;         /**< number of dimensions, 1 to 3 */
  int64_t extent[3];    /**< sizes */
  int64_t stride[3];    /**< distances of neighbours, in elements */
  postlude_memory_space memory_space; /**< where data points */
  int32_t reserved;                   /**< 0 */
} postlude_tensor;
/** Sets up a postlude_tensor. Since 0.1. */
#define POSTLUDE_TENSOR_INIT \
  { sizeof(postlude_tensor), NULL, POSTLUDE_FLOAT32, 2, {0, 0, 1}, {0, 0, 1}, POSTLUDE_HOST, 0 }

/**
 * Fills a tensor of rank 2 in row-major (stride[1] = 1) or column-major order (stride[0] = 1); its
 * size too, so that it need not be set up before. Untouched on failure.
 * Errors: INVALID_ARGUMENT. Since 0.1.
 */
POSTLUDE_API postlude_status postlude_tensor_matrix(postlude_tensor *tensor, void *data,
                                                    postlude_dtype dtype, int64_t rows,
                                                    int64_t columns, postlude_layout layout,
                                                    postlude_memory_space space);
/** The same for a contiguous tensor of rank 1. Errors: INVALID_ARGUMENT. Since 0.1. */
POSTLUDE_API postlude_status postlude_tensor_vector(postlude_tensor *tensor, void *data,
                                                    postlude_dtype dtype, int64_t elements,
                                                    postlude_memory_space space);

/**
 * Fills a tensor from a DLPack tensor, whose memory it then describes; nothing is copied or owned.
 * Its size too, so that it need not be set up before. Untouched on failure.
 *
 * @param dlpack a `const DLTensor *` of DLPack 0.2 or newer (github.com/dmlc/dlpack, dlpack.h), of 1
 *               to 3 dimensions: floats of 64, 32 or 16 bits, bfloat or 64-bit int. Without strides
 *               it is row-major. Its device number is not looked at.
 * Errors: INVALID_ARGUMENT, UNSUPPORTED (another element type, lanes or device). Since 0.1.
 */
POSTLUDE_API postlude_status postlude_tensor_from_dlpack(postlude_tensor *tensor, const void *dlpack);

/**
 * The linear layer y[m,n] = sum_k x[m,k] * w[n,k]: x is M x K, w is N x K. Only dtype, rank,
 * extents and strides of the two tensors are used; their data pointers may be NULL. Since 0.1.
 */
typedef struct postlude_problem {
  size_t size; /**< sizeof(postlude_problem) */
  postlude_tensor x;             /**< M x K */
  postlude_tensor w;             /**< N x K */
  postlude_compute_mode compute; /**< how */
  int32_t reserved;              /**< 0 */
} postlude_problem;
/** Sets up a postlude_problem. Since 0.1. */
#define POSTLUDE_PROBLEM_INIT \
  { sizeof(postlude_problem), POSTLUDE_TENSOR_INIT, POSTLUDE_TENSOR_INIT, POSTLUDE_COMPUTE_AUTOMATIC, 0 }

/**
 * Declares a name that the expression uses. The array's order is that of the bindings.
 *
 * In a problem with a batch dimension every matrix of the batch sees the same operand, unless
 * is_batched: then its tensor has a leading batch dimension, B x N or B x 1 x N for a row, B x M or
 * B x M x 1 for a column, B, B x 1 or B x 1 x 1 for an element, B x M x N for a matrix. Since 0.1.
 */
typedef struct postlude_operand {
  size_t size; /**< sizeof(postlude_operand) */
  const char *name;           /**< as the expression has it; copied */
  postlude_operand_kind kind; /**< its shape */
  int32_t is_batched;         /**< 0 or 1; 0 for a scalar */
} postlude_operand;
/** Sets up a postlude_operand. Since 0.1. */
#define POSTLUDE_OPERAND_INIT \
  { sizeof(postlude_operand), NULL, POSTLUDE_ROW, 0 }

/**
 * Whether the stages of a plan are compiled for the program when the plan is made, where the backend
 * can do that (CUDA with NVRTC). Otherwise they are interpreted, which on a GPU takes longer to run
 * and nothing to prepare. Since 0.1.
 */
typedef int32_t postlude_compilation;
enum {
  POSTLUDE_COMPILATION_AUTOMATIC = 0, /**< stages over a million elements and more */
  POSTLUDE_COMPILATION_NEVER = 1,     /**< all are interpreted */
  POSTLUDE_COMPILATION_ALWAYS = 2     /**< every stage, or UNSUPPORTED where that is not possible */
};

/** Options of a plan. Since 0.1. */
typedef struct postlude_plan_options {
  size_t size;            /**< sizeof(postlude_plan_options) */
  postlude_layout layout; /**< layout that the results will have */
  postlude_compilation compilation; /**< whether stages are compiled */
  const char *engine;     /**< GEMM engine to use, NULL to let the plan choose */
  size_t expression_length; /**< bytes of the expression, which then needs no NUL at its end and may
                                 have none inside; 0 for one that ends with a NUL */
  const char *gemm_choice; /**< what postlude_plan_gemm_choice gave for the same problem, NULL to
                                choose anew */
  int32_t autotune;        /**< 1 to time the algorithms that a vendor's library proposes for the GEMM
                                and keep the fastest: takes tens of executions of it, waits for the
                                device, and needs memory for another x, w and y; 0 to let the
                                library's heuristic choose */
  int32_t reserved;        /**< 0 */
  const char *without_rewrites; /**< rewrites to leave out: names with commas between, or "all"; NULL
                                     for none */
} postlude_plan_options;
/** Sets up a postlude_plan_options. Since 0.1. */
#define POSTLUDE_PLAN_OPTIONS_INIT \
  { sizeof(postlude_plan_options), POSTLUDE_ROW_MAJOR, POSTLUDE_COMPILATION_AUTOMATIC, NULL, 0, NULL, 0, 0, \
    NULL }

/**
 * Compiles `expression` for a problem.
 *
 * @param operands   every name that the expression uses beside y; may be NULL when count is 0.
 * @param options    NULL for defaults.
 * @param plan       receives the handle; NULL on failure. Destroy it with postlude_plan_destroy.
 * Errors: SYNTAX_ERROR (message with a caret under the fault), UNKNOWN_NAME, SHAPE_MISMATCH,
 * INVALID_ARGUMENT, UNSUPPORTED, VERSION_MISMATCH, NOT_INITIALIZED. Threads: safe. Since 0.1.
 */
POSTLUDE_API postlude_status postlude_plan_create(postlude_context *context,
                                                  const postlude_problem *problem,
                                                  const char *expression,
                                                  const postlude_operand *operands,
                                                  size_t operand_count,
                                                  const postlude_plan_options *options,
                                                  postlude_plan **plan);
/**
 * A program that is built by calls instead of written as text, for hosts that generate code:
 *
 *     sum = add(y, bias); result = min(sum, 2)
 *
 * is postlude_builder_y, postlude_builder_operand, postlude_builder_call with "+", ..., each of which
 * gives a value, and postlude_builder_result for what the plan computes. Needs neither a context nor
 * Kokkos. Threads: a builder is used by one thread at a time. Since 0.1.
 */
typedef struct postlude_builder postlude_builder;

/** A value of a builder; of no use to another one. Positive. Since 0.1. */
typedef int64_t postlude_value;

/** An argument of postlude_builder_call. Since 0.1. */
typedef struct postlude_argument {
  size_t size;         /**< sizeof(postlude_argument) */
  const char *keyword; /**< the parameter's name, NULL for a positional argument */
  postlude_value value; /**< what is passed */
} postlude_argument;
/** Sets up a postlude_argument. Since 0.1. */
#define POSTLUDE_ARGUMENT_INIT \
  { sizeof(postlude_argument), NULL, 0 }

/** Creates an empty builder. Errors: INVALID_ARGUMENT, OUT_OF_MEMORY. Since 0.1. */
POSTLUDE_API postlude_status postlude_builder_create(postlude_builder **builder);
/** Destroys a builder; plans made from it stay valid. NULL is accepted. Since 0.1. */
POSTLUDE_API postlude_status postlude_builder_destroy(postlude_builder *builder);
/** The result of the linear layer. Errors: INVALID_ARGUMENT. Since 0.1. */
POSTLUDE_API postlude_status postlude_builder_y(postlude_builder *builder, postlude_value *value);
/** A number, which may be infinite or NaN. Errors: INVALID_ARGUMENT. Since 0.1. */
POSTLUDE_API postlude_status postlude_builder_constant(postlude_builder *builder, double number,
                                                       postlude_value *value);
/**
 * An operand that will be declared to postlude_plan_build. Errors: INVALID_ARGUMENT (a name that the
 * language uses, or cannot have). Since 0.1.
 */
POSTLUDE_API postlude_status postlude_builder_operand(postlude_builder *builder, const char *name,
                                                      postlude_value *value);
/**
 * A function of the language, an alias of one or an operator ("+", "-", "*", "/", "**", "<", "<=",
 * ">", ">=", "==", "!="; "-" of one argument negates). Numbers that the language wants literally, as
 * dim, are values of postlude_builder_constant. Positional arguments come first. `value` is untouched
 * on failure.
 * Errors: INVALID_ARGUMENT (a value that is none of this builder's, a number out of range),
 * UNKNOWN_NAME (function or keyword; the message has the closest name), SYNTAX_ERROR (arguments that
 * the function does not take), VERSION_MISMATCH. Since 0.1.
 */
POSTLUDE_API postlude_status postlude_builder_call(postlude_builder *builder, const char *function_name,
                                                   const postlude_argument *arguments,
                                                   size_t argument_count, postlude_value *value);
/**
 * Makes a value the next result of the program. Errors: INVALID_ARGUMENT (also a name that was given
 * to an earlier result). Since 0.1.
 */
POSTLUDE_API postlude_status postlude_builder_result(postlude_builder *builder, const char *name,
                                                     postlude_value value);
/**
 * As postlude_plan_create, with the results of a builder, of which there must be one at least. The
 * builder is not changed and may be used again. Since 0.1.
 */
POSTLUDE_API postlude_status postlude_plan_build(postlude_context *context,
                                                 const postlude_problem *problem,
                                                 const postlude_builder *builder,
                                                 const postlude_operand *operands,
                                                 size_t operand_count,
                                                 const postlude_plan_options *options,
                                                 postlude_plan **plan);
/** Destroys a plan after pending work of its context; NULL is accepted. Since 0.1. */
POSTLUDE_API postlude_status postlude_plan_destroy(postlude_plan *plan);
/**
 * Bytes of scratch memory that one execution needs; each of two executions at the same time needs
 * its own. Errors: INVALID_ARGUMENT. Since 0.1.
 */
POSTLUDE_API postlude_status postlude_plan_workspace_size(const postlude_plan *plan, size_t *bytes);

/**
 * The same for an execution with prepared weights, where w is not prepared on the way.
 * Errors: INVALID_ARGUMENT. Since 0.1.
 */
POSTLUDE_API postlude_status postlude_plan_workspace_size_with_weights(const postlude_plan *plan,
                                                                       size_t *bytes);

/** What a plan tells of one result. Since 0.1. */
typedef struct postlude_result_info {
  size_t size;          /**< sizeof(postlude_result_info) */
  const char *name;     /**< owned by the plan */
  postlude_dtype dtype; /**< natural dtype: INT64 for an index, else that of the problem */
  int64_t extent[3];    /**< batch (1 unless it depends on y or a batched operand), rows, columns */
} postlude_result_info;
/** Sets up a postlude_result_info. Since 0.1. */
#define POSTLUDE_RESULT_INFO_INIT \
  { sizeof(postlude_result_info), NULL, POSTLUDE_FLOAT32, {1, 0, 0} }

/** Number of results of a plan. Errors: INVALID_ARGUMENT. Since 0.1. */
POSTLUDE_API postlude_status postlude_plan_result_count(const postlude_plan *plan, size_t *count);
/** Describes result `index`. Errors: INVALID_ARGUMENT (index out of range). Since 0.1. */
POSTLUDE_API postlude_status postlude_plan_result(const postlude_plan *plan, size_t index,
                                                  postlude_result_info *info);
/** FLOPs of the GEMM and bytes of inputs and results counted once. Errors: INVALID_ARGUMENT. Since 0.1. */
POSTLUDE_API postlude_status postlude_plan_work(const postlude_plan *plan, double *gemm_flops,
                                                double *minimum_bytes);
/**
 * The plan in words: program, rewrites, engines, stages, bytes, FLOPs, workspace. The text is owned by the
 * plan. Errors: INVALID_ARGUMENT. Threads: safe. Since 0.1.
 */
POSTLUDE_API postlude_status postlude_plan_explain(const postlude_plan *plan, const char **text);
/**
 * The same as one JSON object, whose members are those of Plan::explain_json (schema 1): problem,
 * written, rewrites, program, engines, gemm, stages, totals. The text is owned by the plan. Errors: INVALID_ARGUMENT.
 * Threads: safe. Since 0.1.
 */
POSTLUDE_API postlude_status postlude_plan_explain_json(const postlude_plan *plan, const char **text);
/**
 * One line of text, which may be kept in a file, for postlude_plan_options.gemm_choice of a later plan
 * for the same problem: the engine and its algorithm, as autotune or the vendor's heuristic found
 * them. It holds for one version of the vendor's library and one kind of device; for others, or for
 * another problem, making the plan fails with INVALID_ARGUMENT. The text is owned by the plan.
 * Errors: INVALID_ARGUMENT. Threads: safe. Since 0.1.
 */
POSTLUDE_API postlude_status postlude_plan_gemm_choice(const postlude_plan *plan, const char **text);

/**
 * Prepares w once for many executions of a plan and of others with the same engine and shape of w in
 * this context. The engine `split` takes w apart in two float16 parts, as much memory as w itself;
 * rows of w that hold infinities, NaN, or elements below 2^-28 of the row's largest are kept in
 * float32 beside them. `onednn` lays w out in oneDNN's blocks, and `microkernel` in blocks of columns.
 * The other engines, and plans of `onednn` for one row, a batch, column-major y or panels of columns,
 * and of `microkernel` for a batch, use w as it is: their weights have 0 bytes, and executions still
 * read w. So do plans of another engine than that for which w was prepared.
 *
 * Give the weights to postlude_execute as bindings.weights; bindings.w.data may then be NULL. If it
 * is not, it must be the tensor that they were prepared from: others would be stale.
 *
 * @param w       as the plan's problem has it, with data and any strides. Complete on return, and
 *                after all work given to the context; w may be freed or changed then.
 * @param weights receives the handle; NULL on failure. Destroy it with postlude_weights_destroy.
 * Errors: INVALID_ARGUMENT (also for a plan of another context), SHAPE_MISMATCH, WRONG_MEMORY_SPACE,
 * OUT_OF_MEMORY, NOT_INITIALIZED, BACKEND_FAILURE. Threads: safe. Since 0.1.
 */
POSTLUDE_API postlude_status postlude_weights_create(postlude_context *context,
                                                     const postlude_plan *plan,
                                                     const postlude_tensor *w,
                                                     postlude_weights **weights);
/** Bytes of memory that the weights hold. Errors: INVALID_ARGUMENT. Since 0.1. */
POSTLUDE_API postlude_status postlude_weights_size(const postlude_weights *weights, size_t *bytes);
/**
 * Prepares w anew, after its elements have changed or from another tensor of the same extents and
 * dtype. Complete on return.
 *
 * @param stream as for postlude_execute.
 * Errors: as postlude_weights_create; after OUT_OF_MEMORY and BACKEND_FAILURE the weights cannot be
 * used until a refresh succeeds. Threads: not while an execution uses the weights. Since 0.1.
 */
POSTLUDE_API postlude_status postlude_weights_refresh(postlude_weights *weights,
                                                      const postlude_tensor *w, void *stream);
/** Destroys weights after pending work of their context; NULL is accepted. Since 0.1. */
POSTLUDE_API postlude_status postlude_weights_destroy(postlude_weights *weights);

/** The value of one operand: `scalar` for the kind POSTLUDE_SCALAR, else `tensor`. Since 0.1. */
typedef struct postlude_operand_value {
  size_t size; /**< sizeof(postlude_operand_value) */
  double scalar;          /**< the number */
  postlude_tensor tensor; /**< the tensor */
} postlude_operand_value;
/** Sets up a postlude_operand_value. Since 0.1. */
#define POSTLUDE_OPERAND_VALUE_INIT \
  { sizeof(postlude_operand_value), 0.0, POSTLUDE_TENSOR_INIT }

/** Everything that one execution reads and writes. Since 0.1. */
typedef struct postlude_bindings {
  size_t size; /**< sizeof(postlude_bindings) */
  postlude_tensor x;                      /**< as the plan's problem has it, with data */
  postlude_tensor w;                      /**< the same */
  const postlude_operand_value *operands; /**< in the order of the plan's operands */
  size_t operand_count;                   /**< the plan's */
  const postlude_tensor *outputs;         /**< in the order of the plan's results */
  size_t output_count;                    /**< the plan's */
  void *workspace; /**< 256-byte aligned memory of the backend, or NULL for the library's own */
  size_t workspace_bytes; /**< of workspace; 0 for NULL */
  const postlude_weights *weights; /**< prepared from w, or NULL to use w itself */
} postlude_bindings;
/** Sets up a postlude_bindings. Since 0.1. */
#define POSTLUDE_BINDINGS_INIT \
  { sizeof(postlude_bindings), POSTLUDE_TENSOR_INIT, POSTLUDE_TENSOR_INIT, NULL, 0, NULL, 0, NULL, 0, NULL }

/**
 * Executes a plan: out = epilogue(x w^T, operands...).
 *
 * @param stream cudaStream_t for this execution on a CUDA context, NULL for the context's stream.
 *               Must be NULL on CPUs.
 * Asynchronous on CUDA; complete on return on CPUs. Outputs must not overlap anything else.
 * Errors: INVALID_ARGUMENT, SHAPE_MISMATCH, MISSING_OPERAND, OVERLAP, WRONG_MEMORY_SPACE,
 * OUT_OF_MEMORY, NOT_INITIALIZED, BACKEND_FAILURE. Threads: a plan may be executed from several
 * threads at once with different outputs. Since 0.1.
 */
POSTLUDE_API postlude_status postlude_execute(const postlude_plan *plan,
                                              const postlude_bindings *bindings, void *stream);

/** How one result compared with the float64 reference. Since 0.1. */
typedef struct postlude_check_result {
  size_t size; /**< sizeof(postlude_check_result) */
  int64_t elements;   /**< compared */
  int64_t violations; /**< |out - ref| > tolerance + tolerance |ref|, or NaN or infinity differs */
  /** Largest |out - ref|; infinite when a NaN or an infinity differs. */
  double largest_absolute_error;
  double largest_relative_error; /**< largest |out - ref| / |ref| where |ref| > tolerance */
  double tolerance;              /**< that was used, absolute and relative */
} postlude_check_result;
/** Sets up a postlude_check_result. Since 0.1. */
#define POSTLUDE_CHECK_RESULT_INIT \
  { sizeof(postlude_check_result), 0, 0, 0.0, 0.0, 0.0 }

/**
 * Compares outputs of a finished execution with the float64 reference. All tensors of `bindings`
 * are host copies. Takes 2 M N K float64 operations on all host threads.
 *
 * @param tolerance absolute and relative, finite; 0 selects one for each result: 1e-4 for f32, 1e-11
 *                  for f64, 1e-2 for f16 and bf16, by the dtype of the problem (the mode
 *                  f32_fast_tf32 counts as f16) or that of the output, whichever is coarser; of an
 *                  index, by the problem's.
 * @param results   one per result of the plan, set up with the _INIT macro.
 * Errors: as postlude_execute, WRONG_MEMORY_SPACE for tensors that are not on the host. Since 0.1.
 */
POSTLUDE_API postlude_status postlude_check(const postlude_plan *plan,
                                            const postlude_bindings *bindings, double tolerance,
                                            postlude_check_result *results, size_t result_count);

#ifdef __cplusplus
}
#endif

#endif
