#include "m.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes before and behind each tensor that nobody may write to. */
enum { GUARD = 128 };

static inline void fail(const char *why) {
  fprintf(stderr, "%s\n", why);
  exit(1);
}

static inline void check(int status) {
  if (status != 0) {
    fprintf(stderr, "%d %s\n", status, m_last_error());
    exit(1);
  }
}

static inline void take(void *to, size_t bytes) {
  if (bytes > 0 && fread(to, 1, bytes, stdin) != bytes) fail("stdin is too short");
}

static inline void give(const void *from, size_t bytes) {
  if (bytes > 0 && fwrite(from, 1, bytes, stdout) != bytes) fail("stdout takes no more");
}

static inline size_t bytes(const int64_t *dims, int rank, size_t size) {
  for (int i = 0; i < rank; i++) size *= (size_t)dims[i];
  return size;
}

struct memory {
  unsigned char *begin;
  size_t front, size;
};

/* Memory for a tensor that is aligned to its elements and to nothing more. */
static inline void *place(const int64_t *dims, int rank, size_t size, struct memory *memory) {
  memory->front = GUARD + size;
  memory->size = bytes(dims, rank, size);
  memory->begin = (unsigned char *)malloc(memory->front + memory->size + GUARD);
  memset(memory->begin, 0xAA, memory->front + memory->size + GUARD);
  return memory->begin + memory->front;
}

static inline void look(const struct memory *memory) {
  for (size_t i = 0; i < memory->front; i++)
    if (memory->begin[i] != 0xAA) fail("something was written before a tensor");
  for (size_t i = 0; i < GUARD; i++)
    if (memory->begin[memory->front + memory->size + i] != 0xAA) fail("something was written behind a tensor");
  free(memory->begin);
}

int main(void) {
  struct memory memory[64];
  size_t n = 0, needed = 0;
/* the body */
  free(workspace);
  for (size_t i = 0; i < n; i++) look(&memory[i]);
  return 0;
}
