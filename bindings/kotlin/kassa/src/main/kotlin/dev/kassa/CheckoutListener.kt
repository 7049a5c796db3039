package dev.kassa

import kotlinx.coroutines.Job

/** Is told the states of a checkout, for Java; see [Checkout.listen]. In Kotlin, [Checkout.states] is a flow of them. */
public fun interface CheckoutListener {
    /** The current state, then each new one. */
    public fun stateChanged(state: CheckoutState)

    /** No further state: the checkout was closed. */
    public fun ended() {}
}

/** A registered listener; closing this unregisters it. */
public class CheckoutListening internal constructor(private val job: Job) : AutoCloseable {
    /** If you close it on a thread of the executor, no call begins afterwards; on another thread, a call may be running. */
    override fun close(): Unit = job.cancel()

    /** The class name only, not whether it has ended. */
    override fun toString(): String = "CheckoutListening()"
}
