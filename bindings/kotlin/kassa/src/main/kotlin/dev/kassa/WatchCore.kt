package dev.kassa

import dev.kassa.internal.AsyncCall
import dev.kassa.internal.FfiConverterTypeWatchReport
import dev.kassa.internal.Receipt
import dev.kassa.internal.await
import dev.kassa.internal.readOptional
import dev.kassa.internal.StatusWatch as CoreStatusWatch

/** One watch of the core's, with this package's values. */
internal class WatchCore(private val core: CoreStatusWatch) {
    suspend fun next(receipt: Receipt): WatchReport? = calling {
        await(AsyncCall.WatchNext(core), receipt) { answer ->
            answer.readOptional { FfiConverterTypeWatchReport.read(it).toKassa() }
        }
    }

    suspend fun outcome(receipt: Receipt): Verdict? =
        calling { await(AsyncCall.WatchOutcome(core), receipt) { it.readOptional(::readVerdict) } }

    fun checkNow(): Unit = calling { core.checkNow() }

    fun cancel(): Unit = calling { core.cancel() }
}
