package dev.kassa.internal

import java.util.concurrent.atomic.AtomicLong
import kotlin.coroutines.AbstractCoroutineContextElement
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.EmptyCoroutineContext

/** The number of a call that nobody observes. */
internal const val UNOBSERVED = 0L

/** The observer of one call, with what it knows of the caller: for a coroutine that makes the call on another thread. */
internal class ObserverOfCall(val observer: CallObserver) : AbstractCoroutineContextElement(ObserverOfCall) {
    companion object Key : CoroutineContext.Key<ObserverOfCall>
}

/** Who observes calls. A call reads one field for it, and no more where nobody does. */
internal object Observers {
    /** Makes the observer of one call, on its caller's thread. */
    @Volatile
    var begin: (() -> CallObserver)? = null

    private val numbers = AtomicLong()

    /** What a coroutine that goes on elsewhere takes along. */
    fun ofCaller(context: CoroutineContext): CoroutineContext {
        val begin = begin ?: return EmptyCoroutineContext
        return if (context[ObserverOfCall] == null) ObserverOfCall(begin()) else EmptyCoroutineContext
    }

    /** Makes a call by a number, under which it is observed. What it has sent is observed to its end, also without its caller. */
    inline fun <T> observing(context: CoroutineContext, call: (number: Long) -> T): T {
        val begin = begin ?: return call(UNOBSERVED)
        val number = numbers.incrementAndGet()
        observeCall(number.toULong(), context[ObserverOfCall]?.observer ?: begin())
        try {
            return call(number)
        } finally {
            stopObservingCall(number.toULong())
        }
    }
}
