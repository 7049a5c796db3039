package dev.kassa.checkout

import dev.kassa.PaymentException

/** Ended as expected. */
const val AS_EXPECTED = 0

/** Ended, but not as expected. */
const val NOT_AS_EXPECTED = 1

/** The command line is wrong; nothing was sent. */
const val USAGE = 2

/** A payment is still open, or nobody knows yet what became of it. */
const val NOT_KNOWN = 3

/** Why a command could not do its work, where the gateway has no part in it. Nothing was sent. */
sealed class Failure(override val message: String) : Exception(message) {
    /** The command line, the environment or the standard input is wrong. */
    class Usage(message: String) : Failure(message)

    /** The state file cannot be read or written: without it a payment could get lost. */
    class State(message: String) : Failure(message)

    /** The machine did not play along: a port that is taken, a file that cannot be read. */
    class Machine(message: String) : Failure(message)

    /** The name that programs see. */
    val kind: String
        get() = when (this) {
            is Usage -> "Usage"
            is State -> "State"
            is Machine -> "System"
        }

    /** The program's exit code. */
    val exitCode: Int get() = if (this is Usage) USAGE else NOT_AS_EXPECTED
}

/** The exit code of a payment's error. */
val PaymentException.exitCode: Int
    get() = when (this) {
        is PaymentException.OutcomeUnknown, is PaymentException.DeadlineExpired -> NOT_KNOWN
        else -> NOT_AS_EXPECTED
    }
