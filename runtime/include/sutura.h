/* Running compiled models (.sutura artifacts) from C. For C++ there is sutura.hpp.
 *
 *   sutura_model *model;
 *   if (sutura_model_open("encoder.sutura", 0, &model) != SUTURA_OK)
 *     fprintf(stderr, "%s\n", sutura_last_error());
 *   ...
 *   sutura_model_run(model, inputs, n_inputs, outputs, n_outputs);
 *   sutura_model_close(model);
 *
 * Link with -lsutura_rt, or with libsutura_rt.a -lpthread -ldl -lm. docs/running.md leads from nothing to a call.
 *
 * Threads: every function may be called from any thread; one model may run on several threads at once. Only the function that
 * closes or frees an object must be the last use of it.
 *
 * Pointers: those of one rule hold everywhere unless a function says another. Null and misaligned pointers are errors
 * (SUTURA_USAGE), and numbers of tensors and ranks are compared with the model's before anything is read through a pointer. Of
 * other pointers the library cannot know whether they are valid. What a call is given it uses until it returns and keeps
 * nothing of: paths, names, options, arrays, dims and data stay the caller's. Strings and dims that are returned belong to the
 * object that they were asked of, and live as long as it. Where a function makes an object, the pointer to it is written only
 * on success, and the object is given back to the function of its kind whose name ends in _close or _free, which ignores NULL.
 *
 * An artifact holds native code: open only those from people whose programs you would run. That the file is as it was
 * written is checked when it is opened, which finds damage, not malice.
 */
#ifndef SUTURA_H
#define SUTURA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Buffers of inputs and outputs that are aligned to this many bytes are used where they are. Others are copied, and give the
 * same results. One that is not even aligned to its elements (a complex number to its parts) is an error. */
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

/* Bytes of an element; -1 if there is no such type. */
int32_t sutura_element_size(int32_t element_type);

/* Its name, such as "f32"; NULL if there is no such type. The string lives as long as the library. */
const char *sutura_element_name(int32_t element_type);

/* ---- Models ---- */

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

/* A device that was opened; see below. */
typedef struct sutura_device sutura_device;

/* How a model is opened. */
typedef struct sutura_options {
  size_t size;                 /* sizeof(sutura_options): which version of this struct the caller has */
  const char *device_name;     /* where the model runs: a name as of sutura_device_open, or "cpu" for the processor; NULL takes
                                * the first of the kind that it was compiled for */
  const sutura_device *device; /* or an open device, which sessions need; NULL if there is none. The model keeps it open. */
  int32_t threads;             /* as of sutura_model_open */
  int32_t trusted;             /* 1: as sutura_model_open_trusted; 0: look at the hashes */
  int32_t profile;             /* 1: take the time of every launch, for sutura_model_profile; 0: do not */
  int32_t reserved;            /* 0 */
} sutura_options;

/* Options as functions without options have them: sutura_options options = SUTURA_OPTIONS_INIT; */
#define SUTURA_OPTIONS_INIT {sizeof(sutura_options), NULL, NULL, 0, 0, 0, 0}

/* Loads an artifact. threads is the most that one run may use, the caller's included; 0 takes SUTURA_THREADS from the
 * environment, or else the number of processors. */
sutura_status sutura_model_open(const char *path, int32_t threads, sutura_model **model);

/* The same without a look at the hashes of what the file holds, for large files that something else vouches for. Of a damaged
 * one results may be wrong, or the process may end. */
sutura_status sutura_model_open_trusted(const char *path, int32_t threads, sutura_model **model);

/* The same with options; NULL stands for SUTURA_OPTIONS_INIT. A device that is not there, or that the model was not compiled
 * for, is an error that says which there are. */
sutura_status sutura_model_open_with(const char *path, const sutura_options *options, sutura_model **model);

/* Loads an artifact of size bytes that is in memory, at any alignment. The bytes are copied: the caller may free them when this
 * returns. (A file of 16 MiB or more is mapped instead, so weights are not copied then.) Errors call it "memory". */
sutura_status sutura_model_open_memory(const void *bytes, size_t size, const sutura_options *options,
                                       sutura_model **model);

/* Unloads a model; NULL is ignored. */
void sutura_model_close(sutura_model *model);

/* The name of the device that the model runs on; "cpu" for the processor; NULL on an error. */
const char *sutura_model_device(const sutura_model *model);

/* The model's interface in one line, such as "encoder(x: f32[batch, seq, 256]) -> (y: f32[batch, seq, 256])"; NULL on
 * an error. */
const char *sutura_model_signature(const sutura_model *model);

/* Number of inputs and of outputs; -1 on an error. */
int32_t sutura_model_input_count(const sutura_model *model);
int32_t sutura_model_output_count(const sutura_model *model);

/* Describes an input or an output, counted from 0. */
sutura_status sutura_model_input(const sutura_model *model, int32_t index, sutura_value *value);
sutura_status sutura_model_output(const sutura_model *model, int32_t index, sutura_value *value);

/* The number of an input or an output with this name. A name that there is not is an error (SUTURA_USAGE) that says which there
 * are. */
sutura_status sutura_model_input_index(const sutura_model *model, const char *name, int32_t *index);
sutura_status sutura_model_output_index(const sutura_model *model, const char *name, int32_t *index);

/* Computes the dimensions of an output for inputs of these shapes, without running; dims has room for its rank. Of
 * dimensions that data decide it tells the most that they may be, and buffers of outputs have those. The data of the inputs is not looked at. */
sutura_status sutura_model_output_dims(const sutura_model *model, const sutura_tensor *inputs, int32_t n_inputs,
                                       int32_t output, int64_t *dims);

/* Runs the model, inputs and outputs in the order of the signature. Buffers of outputs have the exact shapes, and overlap
 * neither each other nor an input. On an error before the run they are untouched; after one of the run itself, such as a wrong
 * index, they hold anything. Arrays of a model without inputs or without outputs may be NULL. */
sutura_status sutura_model_run(const sutura_model *model, const sutura_tensor *inputs, int32_t n_inputs,
                               const sutura_tensor *outputs, int32_t n_outputs);

/* The same in any order: each array of names has as many as there are tensors, and says which tensor is which. All inputs and
 * outputs of the model are given, each once. */
sutura_status sutura_model_run_by_name(const sutura_model *model, const char *const *input_names,
                                       const sutura_tensor *inputs, int32_t n_inputs, const char *const *output_names,
                                       const sutura_tensor *outputs, int32_t n_outputs);

/* As sutura_model_run, also for models whose data decide dimensions of outputs. Each output lies at the front of its buffer,
 * contiguous. dims has room for the ranks of all outputs together, and gets their dimensions, one output after the other. */
sutura_status sutura_model_run_dims(const sutura_model *model, const sutura_tensor *inputs, int32_t n_inputs,
                                    const sutura_tensor *outputs, int32_t n_outputs, int64_t *dims);

/* ---- Where the time goes ---- */

/* What was timed until it was asked for. */
typedef struct sutura_profile sutura_profile;

/* The times of one launch of a model, over all runs in which it was the same. */
typedef struct sutura_launch {
  const char *kernel; /* its symbol, or the name of a routine; NULL if the code does not say */
  int64_t groups;     /* parts of the work that do not depend on each other */
  int64_t chunks;     /* parts in which threads took them; on a device the blocks that were launched */
  uint64_t calls;     /* how often it was made */
  uint64_t total_ns;  /* nanoseconds of all calls */
  uint64_t least_ns;  /* of the shortest call */
  int32_t position;   /* which of a run's launches it is, from 0 */
} sutura_launch;

/* The times of launches since the model was opened or its profile was cleared, in the order in which a run makes them. The model
 * was opened with the option profile. */
sutura_status sutura_model_profile(const sutura_model *model, sutura_profile **profile);
sutura_status sutura_model_clear_profile(const sutura_model *model);
int32_t sutura_profile_count(const sutura_profile *profile); /* -1 on an error */
sutura_status sutura_profile_launch(const sutura_profile *profile, int32_t index, sutura_launch *launch);
void sutura_profile_free(sutura_profile *profile);

/* ---- Devices ---- */

/* The devices of this machine, as they were found. */
typedef struct sutura_device_list sutura_device_list;

typedef struct sutura_device_info {
  const char *id;        /* the name that means this device and no other, such as "cuda:0" */
  const char *name;      /* the driver's name of the hardware */
  const char *kind;      /* such as "discrete GPU" */
  const char *driver;    /* name and version of the driver */
  const char *target;    /* what code has to be compiled for, such as "sm_90" */
  const char *problem;   /* why it cannot run models; NULL if it can */
  uint64_t memory_bytes; /* of the device's memory */
} sutura_device_info;

/* Looks for devices. A machine without any, or without the library of a driver, is not an error. The processor, which options
 * name "cpu", is always there and not in the list. */
sutura_status sutura_devices_find(sutura_device_list **list);
int32_t sutura_devices_count(const sutura_device_list *list); /* -1 on an error */
sutura_status sutura_devices_info(const sutura_device_list *list, int32_t index, sutura_device_info *info);
/* For each kind of device of which there is none, why; counted from 0, NULL after the last. */
const char *sutura_devices_absent(const sutura_device_list *list, int32_t index);
void sutura_devices_free(sutura_device_list *list);

/* Opens a device by a name as `sutura devices` shows: "cuda" (the first), "cuda:1", "cpu-fibers", or a part of its own name. A
 * name of none is an error that says which there are. Models and sessions on a device keep it open after this closed it. */
sutura_status sutura_device_open(const char *name, sutura_device **device);
const char *sutura_device_name(const sutura_device *device); /* the driver's name; NULL on an error */
void sutura_device_close(sutura_device *device);

/* ---- Sessions: runs on data that stay on a device ----
 *
 * Runs of models on a device one after the other, with tensors that stay there between runs. Nothing is transferred but by
 * sutura_session_upload and sutura_session_download. Runs are enqueued: the device may be at work when a function returns. The
 * models were opened with the session's device in their options. A tensor is used with the session that made it only. Calls of
 * one session from several threads wait for each other. After an error of the device a session does no more. */

typedef struct sutura_session sutura_session;

/* A contiguous row-major tensor in the memory of a device. */
typedef struct sutura_device_tensor sutura_device_tensor;

sutura_status sutura_session_open(const sutura_device *device, sutura_session **session);
/* Tensors of the session are freed by themselves, before or after. */
void sutura_session_close(sutura_session *session);

/* A tensor with any content. dims has rank numbers, and may be NULL if rank is 0. */
sutura_status sutura_session_tensor(const sutura_session *session, int32_t element_type, int32_t rank,
                                    const int64_t *dims, sutura_device_tensor **tensor);

/* A tensor with the content of one of the caller, which is read before this returns. */
sutura_status sutura_session_upload(const sutura_session *session, const sutura_tensor *from, sutura_device_tensor **to);

/* Waits for what is enqueued, and copies a tensor to memory of the caller, which has its type and dims. */
sutura_status sutura_session_download(const sutura_session *session, const sutura_device_tensor *from,
                                      const sutura_tensor *to);

/* Enqueues a run, inputs and outputs in the order of the signature. The outputs are new tensors; all of them are made, or none. */
sutura_status sutura_session_run(const sutura_session *session, const sutura_model *model,
                                 const sutura_device_tensor *const *inputs, int32_t n_inputs,
                                 sutura_device_tensor **outputs, int32_t n_outputs);

/* Enqueues a run into tensors of the shapes that the inputs imply, of which none is an input or given twice. */
sutura_status sutura_session_run_into(const sutura_session *session, const sutura_model *model,
                                      const sutura_device_tensor *const *inputs, int32_t n_inputs,
                                      sutura_device_tensor *const *outputs, int32_t n_outputs);

/* Enqueues a copy of a tensor's content into another one of the same type and dims. */
sutura_status sutura_session_copy(const sutura_session *session, const sutura_device_tensor *from,
                                  sutura_device_tensor *to);

/* Waits for what is enqueued. */
sutura_status sutura_session_synchronize(const sutura_session *session);

/* The type and the dims of a tensor; value->name is NULL. value->dims lives as long as the tensor. */
sutura_status sutura_device_tensor_describe(const sutura_device_tensor *tensor, sutura_value *value);
void sutura_device_tensor_free(sutura_device_tensor *tensor);

/* ---- Errors ---- */

/* The message of the last error on this thread, empty if there was none; valid until the next error on this thread. */
const char *sutura_last_error(void);

/* The library's version, such as "0.1.0". */
const char *sutura_version(void);

#ifdef __cplusplus
}
#endif

#endif
