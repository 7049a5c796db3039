// The functions of the core through which all calls go that take time. What they do, and what they require, is written where
// they are defined: bindings/native/src/submit.rs and bindings/native/src/memory.rs.
//
// The generated header knows none of them, because they are not UniFFI's. Addresses and lengths have 64 bits on every machine.
#pragma once

#include <stdint.h>

uint64_t kassa_queue_new(void (*function)(uint64_t context), uint64_t context, uint64_t descriptor);
void kassa_submit(uint64_t queue, uint64_t number, uint64_t log, uint64_t memory, uint64_t length);
int64_t kassa_take(uint64_t queue, uint64_t memory, uint64_t capacity, uint64_t milliseconds);
void kassa_cancel(uint64_t queue, uint64_t number);
void kassa_free(uint64_t address, uint64_t capacity);
