package dev.kassa

import dev.kassa.internal.AsyncCall
import dev.kassa.internal.FfiConverterTypeWatchReport
import dev.kassa.internal.Repeated
import dev.kassa.internal.await
import dev.kassa.internal.readOptional
import dev.kassa.internal.StatusWatch as CoreStatusWatch

/** One watch of the core's, with this package's values. */
internal class WatchCore(private val core: CoreStatusWatch) {
    private val reports = Repeated(AsyncCall.WatchNext(core)) { answer ->
        answer.readOptional { FfiConverterTypeWatchReport.read(it).toKassa() }
    }

    suspend fun next(): WatchReport? = calling { reports.next() }

    suspend fun outcome(): Verdict? = calling { await(AsyncCall.WatchOutcome(core)) { it.readOptional(::readVerdict) } }

    fun checkNow(): Unit = calling { core.checkNow() }

    fun cancel(): Unit = calling { core.cancel() }
}
