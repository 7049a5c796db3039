package dev.kassa

import dev.kassa.internal.Observers
import dev.kassa.internal.Receipt
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.ExecutorCoroutineDispatcher
import kotlinx.coroutines.MainCoroutineDispatcher
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.ensureActive
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import java.util.concurrent.CompletableFuture
import kotlin.coroutines.ContinuationInterceptor
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.EmptyCoroutineContext

// The three ways on which a result reaches its caller. Each tells the core whether it did.

/** In a coroutine. One that is cancelled before it goes on does not get the result, although it has come. */
internal suspend fun <T> awaited(call: suspend (Receipt) -> T): T {
    val receipt = Receipt()
    try {
        return onDefault { call(receipt) }.also { receipt.received() }
    } catch (error: Throwable) {
        receipt.endsWith(error)
        throw error
    }
}

/** On a thread that waits. One that is interrupted leaves the coroutine behind, which may still end with a result. */
internal fun <T> blocking(call: suspend (Receipt) -> T): T {
    val receipt = Receipt()
    try {
        return runBlocking { call(receipt) }.also { receipt.received() }
    } catch (error: Throwable) {
        receipt.endsWith(error)
        throw error
    }
}

/**
 * In a future. One that was cancelled takes no result. It is observed as its caller's, unless it goes on in a context that has no observer:
 * a worker makes many calls, for weeks, and each is observed by whoever observes then.
 */
internal fun <T> promise(on: CoroutineContext = ofCaller(), call: suspend (Receipt) -> T): CompletableFuture<T> {
    val future = CompletableFuture<T>()
    val receipt = Receipt()
    val calling = CoroutineScope(on).launch {
        val isReceived = try {
            future.complete(call(receipt))
        } catch (error: Throwable) {
            future.completeExceptionally(error) && error is PaymentException
        }
        if (isReceived) receipt.received() else receipt.giveUp()
    }
    // By a cancellation, or by a timeout of its own.
    future.whenComplete { _, error -> if (error != null) calling.cancel() }
    return future
}

/** An error of the core is a result, too, and its caller gets it. */
private fun Receipt.endsWith(error: Throwable) = if (error is PaymentException) received() else giveUp()

internal fun ofCaller(dispatcher: CoroutineDispatcher = Dispatchers.Default) = dispatcher + Observers.ofCaller(EmptyCoroutineContext)

/**
 * Calls the core off the thread that draws. It also comes back through a dispatcher, so that a caller who has none
 * (`Dispatchers.Unconfined`) never goes on upon the thread that waits for everybody's calls.
 */
private suspend fun <T> onDefault(block: suspend () -> T): T {
    val context = currentCoroutineContext()
    if (!goesOnByItself(context)) return withContext(Dispatchers.Default + Observers.ofCaller(context)) { block() }
    context.ensureActive()
    return block()
}

/** Whether the dispatcher can be relied upon to go on elsewhere. That of an executor may run everything where it stands. */
private fun goesOnByItself(context: CoroutineContext): Boolean =
    when (val dispatcher = context[ContinuationInterceptor]) {
        Dispatchers.Default, Dispatchers.IO -> true
        is MainCoroutineDispatcher, is ExecutorCoroutineDispatcher -> false
        is CoroutineDispatcher -> dispatcher.isDispatchNeeded(context)
        else -> false
    }
