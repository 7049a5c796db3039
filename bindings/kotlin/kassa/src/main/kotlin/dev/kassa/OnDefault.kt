package dev.kassa

import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.ExecutorCoroutineDispatcher
import kotlinx.coroutines.MainCoroutineDispatcher
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.ensureActive
import kotlinx.coroutines.withContext
import kotlin.coroutines.ContinuationInterceptor
import kotlin.coroutines.CoroutineContext

/**
 * Calls the core off the thread that draws. It also comes back through a dispatcher, so that a caller who has none
 * (`Dispatchers.Unconfined`) never goes on upon the thread that waits for everybody's calls.
 */
internal suspend fun <T> onDefault(block: suspend () -> T): T {
    val context = currentCoroutineContext()
    if (!goesOnByItself(context)) return withContext(Dispatchers.Default) { block() }
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
