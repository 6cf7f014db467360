/* The binary interface between generated code (host.so) and the runtime, version 8.
 *
 * For those who write a host.so by hand or a runtime of their own; to run models from C, see sutura.h.
 * The normative description is runtime/src/abi.rs.
 */
#ifndef SUTURA_ABI_H
#define SUTURA_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SUTURA_ABI_VERSION 8u

/* Alignment in bytes of inputs, outputs, constants and workspace. */
#define SUTURA_ALIGNMENT 64

/* Result of SuturaRt.call for an unknown routine. */
#define SUTURA_NO_SUCH_ROUTINE INT32_MIN

/* Does the groups [begin, end); bufs are contiguous, row-major and aligned; dims in declaration order. */
typedef void (*sutura_kernel_fn)(void *const *bufs, const int64_t *dims, int64_t begin, int64_t end);

typedef struct SuturaRt {
  uint32_t abi;
  uint32_t reported; /* 0 until something is reported; loops end then */
  void *ctx;
  /* Runs the groups [0, n_groups) in contiguous chunks of at least grain groups; returns when all are done. */
  void (*parallel_for)(void *ctx, sutura_kernel_fn kernel, void *const *bufs, const int64_t *dims, int64_t n_groups,
                       int64_t grain);
  /* Calls a library routine, the application's or the runtime's own, such as "sort/1"; a result that is not 0 is passed on by
   * sutura_run. */
  int32_t (*call)(void *ctx, const char *routine, void *const *bufs, const int64_t *dims, int32_t n_bufs,
                  int32_t n_dims);
  /* A check of data does not hold; check is a number of the manifest's data_checks. Of kind index: element `position` of
   * indices is `index`, which is not in [-size, size). Of kind division: element `position` of a quotient (-1: not known)
   * is divided by zero. From any thread of a launch; the run fails at its end. A kernel that checks data finds the table
   * behind its buffers, and behind that the number of its first check. */
  void (*report)(void *ctx, int64_t check, int64_t position, int64_t index, int64_t size);
  /* Enqueues kernel number `kernel` of the manifest on the device, over the groups [0, n_groups), with the words as
   * arguments. Only for artifacts with device code, whose buffers are memory of the device. */
  void (*launch)(void *ctx, int64_t kernel, const uint64_t *words, int64_t n_words, int64_t n_groups);
  /* Enqueues a copy between memory of the device. */
  void (*copy)(void *ctx, const void *from, void *to, int64_t bytes);
  /* Three words of the device's memory in which its kernels report wrong data; null without device code. */
  void *reports;
  /* Waits for what was enqueued and returns the byte of the device's memory at this address, 0 or 1; below 0 where the run must
   * end, which sutura_run returns. */
  int32_t (*look)(void *ctx, const void *condition);
  /* Begins a call of recursive function number `function` of the manifest: memory of the call's own, until leave. Not 0 where there
   * are too many calls in each other or too little memory, which sutura_run returns. Only without device code. */
  int32_t (*enter)(void *ctx, int64_t function, int64_t bytes, void **frame);
  /* Ends the call that began last. */
  void (*leave)(void *ctx);
} SuturaRt;

/* What a host.so exports. */

uint32_t sutura_abi_version(void);

/* What the functions were generated for, compared with the manifest when the model is loaded, such as
 * "symbols 1; inputs f32[s0,4]; outputs f32[s0,?]; constants f32[4,8]; checks 1; data_checks 0; kernels -". */
extern const char sutura_interface[];

/* 0, or 1 + i when check i of the manifest fails, with the two values in detail. */
int32_t sutura_shapes(const int64_t *input_dims, int64_t *symbols, int64_t *output_dims, int64_t *workspace_bytes,
                      int64_t *detail);

/* 0 or an error code. Where data decide symbols ("decided" in the manifest, at the end of the interface's text) sutura_shapes tells
 * the most that they may be, and sutura_run writes their values to symbols. Behind the inputs stand the "reserves" of the manifest,
 * without elements: their first dims say for how many there is place where a number of the data is a size. */
int32_t sutura_run(const SuturaRt *rt, const int64_t *symbols, const void *const *inputs, void *const *outputs,
                   const void *const *constants, void *workspace);

/* Only where data decide symbols: the dims of all outputs for the symbols that sutura_run left. */
void sutura_output_dims(const int64_t *symbols, int64_t *output_dims);

#ifdef __cplusplus
}
#endif

#endif
