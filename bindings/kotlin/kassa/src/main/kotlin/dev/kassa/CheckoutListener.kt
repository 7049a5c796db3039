package dev.kassa

import kotlinx.coroutines.Job

/** Is told the states of a checkout, for Java; see [Checkout.listen]. In Kotlin, [Checkout.states] is a flow of them. */
public fun interface CheckoutListener {
    /** The state of now, then each that is another one. */
    public fun stateChanged(state: CheckoutState)

    /** There is no further state: the checkout was closed. */
    public fun ended() {}
}

/** A listener that is told of states, until this is closed. */
public class CheckoutListening internal constructor(private val job: Job) : AutoCloseable {
    /** No call begins after it, where it is done on a thread of the executor; elsewhere one may be under way. */
    override fun close(): Unit = job.cancel()

    /** What it is, and not whether it has ended. */
    override fun toString(): String = "CheckoutListening()"
}
