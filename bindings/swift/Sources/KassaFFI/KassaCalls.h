// The C functions for calls that take time, which UniFFI does not generate. They are defined and described in
// bindings/native/src/submit.rs and bindings/native/src/memory.rs. Addresses and lengths have 64 bits on every machine.
#pragma once

#include <stdint.h>

uint64_t kassa_queue_new(void (*function)(uint64_t context), uint64_t context, uint64_t descriptor);
void kassa_submit(uint64_t queue, uint64_t number, uint64_t log, uint64_t memory, uint64_t length);
int64_t kassa_take(uint64_t queue, uint64_t memory, uint64_t capacity, uint64_t milliseconds);
void kassa_received(uint64_t queue, uint64_t number);
void kassa_cancel(uint64_t queue, uint64_t number);
void kassa_free(uint64_t address, uint64_t capacity);
