/* Running compiled models (.sutura artifacts) from C.
 *
 *   sutura_model *model;
 *   if (sutura_model_open("encoder.sutura", 0, &model) != SUTURA_OK)
 *     fprintf(stderr, "%s\n", sutura_last_error());
 *   ...
 *   sutura_model_run(model, inputs, n_inputs, outputs, n_outputs);
 *   sutura_model_close(model);
 *
 * Link with -lsutura_rt, or with libsutura_rt.a -lpthread -ldl -lm.
 *
 * Every function may be called from any thread; one model may run on several threads at once. Only sutura_model_close
 * must be the last use of its model. Strings that are returned belong to the library.
 *
 * Numbers of tensors and ranks are compared with the model's before anything is read through a pointer; null and misaligned
 * pointers are errors (SUTURA_USAGE). Of other pointers the library cannot know whether they are valid.
 *
 * An artifact holds native code: open only those from people whose programs you would run. That the file is as it was
 * written is checked when it is opened, which finds damage, not malice.
 */
#ifndef SUTURA_H
#define SUTURA_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Buffers of outputs must be aligned to this many bytes. Inputs should be: others are copied. An input that is not even
 * aligned to its elements is an error. */
#define SUTURA_BUFFER_ALIGNMENT 64

/* What most functions return. The command line tools exit with the same numbers. */
typedef enum sutura_status {
  SUTURA_OK = 0,
  SUTURA_INPUT = 1,       /* the data does not fit the model: rank, element type, dimensions */
  SUTURA_USAGE = 2,       /* the call is wrong: a null pointer, a number of tensors, an unusable buffer */
  SUTURA_UNSUPPORTED = 3, /* this machine or this version cannot run the model */
  SUTURA_CORRUPT = 4,     /* the file is damaged or no artifact */
  SUTURA_SYSTEM = 5,      /* the system refused: a file, memory, a thread */
  SUTURA_INTERNAL = 70    /* a bug in the compiler or in this library */
} sutura_status;

typedef enum sutura_element_type {
  SUTURA_BOOL = 0, /* one byte, 0 or 1 */
  SUTURA_I8 = 1,
  SUTURA_U8 = 2,
  SUTURA_I16 = 3,
  SUTURA_U16 = 4,
  SUTURA_I32 = 5,
  SUTURA_U32 = 6,
  SUTURA_I64 = 7,
  SUTURA_U64 = 8,
  SUTURA_F8E4M3FN = 9,
  SUTURA_F8E5M2 = 10,
  SUTURA_F16 = 11,
  SUTURA_BF16 = 12,
  SUTURA_F32 = 13,
  SUTURA_F64 = 14,
  SUTURA_F8E4M3FNUZ = 15,
  SUTURA_F8E5M2FNUZ = 16,
  SUTURA_F8E8M0FNU = 17,
  /* One byte each, of which the low bits count. Outputs have the sign, or zeros, above them. */
  SUTURA_F4E2M1FN = 18,
  SUTURA_I2 = 19,
  SUTURA_U2 = 20,
  SUTURA_I4 = 21,
  SUTURA_U4 = 22,
  SUTURA_COMPLEX64 = 23, /* two floats, real before imaginary part */
  SUTURA_COMPLEX128 = 24 /* two doubles, likewise */
} sutura_element_type;

/* A loaded model. */
typedef struct sutura_model sutura_model;

/* An input or output as the model declares it. Valid until the model is closed. */
typedef struct sutura_value {
  const char *name;
  int32_t element_type; /* a sutura_element_type */
  int32_t rank;
  const int64_t *dims; /* -1 where the dimension depends on the inputs */
} sutura_value;

/* A tensor: contiguous row-major memory of the caller. */
typedef struct sutura_tensor {
  int32_t element_type; /* a sutura_element_type */
  int32_t rank;        /* that of the model's input or output */
  const int64_t *dims; /* may be NULL if rank is 0 */
  void *data;          /* may be NULL if the tensor has no elements; inputs are only read */
} sutura_tensor;

/* Loads an artifact. threads is the most that one run may use, the caller's included; 0 takes SUTURA_THREADS from the
 * environment, or else the number of processors. *model is set only on success. */
sutura_status sutura_model_open(const char *path, int32_t threads, sutura_model **model);

/* The same without a look at the hashes of what the file holds, for large files that something else vouches for. Of a damaged
 * one results may be wrong, or the process may end. */
sutura_status sutura_model_open_trusted(const char *path, int32_t threads, sutura_model **model);

/* Unloads a model; NULL is ignored. */
void sutura_model_close(sutura_model *model);

/* The model's interface in one line, such as "encoder(x: f32[batch, seq, 256]) -> (y: f32[batch, seq, 256])"; NULL on
 * an error. */
const char *sutura_model_signature(const sutura_model *model);

/* Number of inputs and of outputs; -1 on an error. */
int32_t sutura_model_input_count(const sutura_model *model);
int32_t sutura_model_output_count(const sutura_model *model);

/* Describes an input or an output, counted from 0. */
sutura_status sutura_model_input(const sutura_model *model, int32_t index, sutura_value *value);
sutura_status sutura_model_output(const sutura_model *model, int32_t index, sutura_value *value);

/* Computes the dimensions of an output for inputs of these shapes, without running; dims has room for its rank. Of
 * dimensions that data decide it tells the most that they may be, and buffers of outputs have those. The data of the inputs is not looked at. */
sutura_status sutura_model_output_dims(const sutura_model *model, const sutura_tensor *inputs, int32_t n_inputs,
                                       int32_t output, int64_t *dims);

/* Runs the model, inputs and outputs in the order of the signature. Buffers of outputs have the exact shapes, are
 * aligned, and overlap neither each other nor an input. Arrays of a model without inputs or without outputs may be NULL. */
sutura_status sutura_model_run(const sutura_model *model, const sutura_tensor *inputs, int32_t n_inputs,
                               const sutura_tensor *outputs, int32_t n_outputs);

/* As sutura_model_run, also for models whose data decide dimensions of outputs. Each output lies at the front of its buffer,
 * contiguous. dims has room for the ranks of all outputs together, and gets their dimensions, one output after the other. */
sutura_status sutura_model_run_dims(const sutura_model *model, const sutura_tensor *inputs, int32_t n_inputs,
                                    const sutura_tensor *outputs, int32_t n_outputs, int64_t *dims);

/* The message of the last error on this thread, empty if there was none; valid until the next error on this thread. */
const char *sutura_last_error(void);

/* The library's version, such as "0.1.0". */
const char *sutura_version(void);

#ifdef __cplusplus
}
#endif

#endif
