package dev.kassa

import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.cancel
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.ensureActive
import kotlinx.coroutines.launch
import dev.kassa.internal.AsyncCall
import dev.kassa.internal.FfiConverterBoolean
import dev.kassa.internal.await
import dev.kassa.internal.Checkout as CoreCheckout

/** Token renewal: calls the app's function whenever a checkout wants a new client token, in a scope of its own. */
internal class TokenRenewal(private val core: CoreCheckout) {
    private val scope = CoroutineScope(Dispatchers.Default)

    /** The first wait is under way when this returns, so that no refused token is shown before there is somebody to renew it. */
    fun start(renew: suspend () -> String) {
        scope.launch(start = CoroutineStart.UNDISPATCHED) {
            while (isTokenWanted()) answer(renew)
        }
    }

    private suspend fun isTokenWanted() = awaited { receipt ->
        calling { await(AsyncCall.CheckoutTokenWanted(core), receipt) { FfiConverterBoolean.read(it) } }
    }

    fun stop() = scope.cancel()

    private suspend fun answer(renew: suspend () -> String) {
        try {
            val token = renew()
            calling { core.renewToken(sendable("client_token", token)) }
        } catch (problem: Exception) {
            // A function may also be cancelled by a timeout of its own, which is one of its failures.
            currentCoroutineContext().ensureActive()
            calling { core.tokenNotRenewed(problem.message?.takeIf(::isUnicode)) }
        }
    }
}
