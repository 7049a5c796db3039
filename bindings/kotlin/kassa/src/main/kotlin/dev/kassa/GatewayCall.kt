package dev.kassa

import dev.kassa.internal.AsyncCall
import dev.kassa.internal.Receipt
import dev.kassa.internal.await
import dev.kassa.internal.callHere
import dev.kassa.internal.isOnVirtualThread
import java.nio.ByteBuffer

/** One call of a gateway, which is made by whoever awaits it or waits for it. [read] reads its answer. */
internal class GatewayCall<T>(
    private val isQuery: Boolean,
    private val read: (ByteBuffer) -> T,
    private val call: () -> AsyncCall,
) {
    suspend fun await(receipt: Receipt): T = calling { await(call(), receipt, read) }

    /** A query runs on the calling thread. */
    fun block(): T = if (isQuery && !isOnVirtualThread()) calling { callHere(call(), read) } else blocking { await(it) }
}
