package dev.kassa

import dev.kassa.internal.StatusWatch as CoreStatusWatch

/** One watch of the core's, with this package's values. */
internal class WatchCore(private val core: CoreStatusWatch) {
    suspend fun next(): WatchReport? = calling { core.next()?.toKassa() }

    suspend fun outcome(): Verdict? = calling { core.outcome()?.toKassa() }

    fun checkNow(): Unit = calling { core.checkNow() }

    fun cancel(): Unit = calling { core.cancel() }
}
