package dev.kassa.internal

import java.util.concurrent.atomic.AtomicLong

/**
 * Whether the caller has received the completion of its call. On the way to the caller it passes dispatchers and futures, each of which
 * drops it where the caller is cancelled. Then the call is given up: what comes once, such as a report, goes to the next call, and the
 * result of a payment is logged.
 */
internal class Receipt {
    private val number = AtomicLong(NONE)

    /** The completion of this call is on its way. */
    fun isFor(call: Long) {
        if (!number.compareAndSet(NONE, call)) Completions.giveUp(call)
    }

    fun received() {
        val call = number.getAndSet(NONE)
        if (call > NONE) Completions.received(call)
    }

    /** Also for a completion that comes later. */
    fun giveUp() {
        val call = number.getAndSet(GIVEN_UP)
        if (call > NONE) Completions.giveUp(call)
    }

    private companion object {
        /** Calls are numbered from 1. */
        const val NONE = 0L
        const val GIVEN_UP = -1L
    }
}
