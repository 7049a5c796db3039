package dev.kassa.shop

import android.app.Application
import android.content.Context
import android.util.Log
import dev.kassa.Kassa
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart.LAZY
import kotlinx.coroutines.Deferred
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async

/** What lives as long as the app. */
open class ShopApplication : Application() {
    /**
     * Once it is there, Kassa may be used on the thread that draws. Loading its native library takes some tenths of a second, and the
     * first use of anything of Kassa does it.
     */
    val backend: Deferred<Backend> = CoroutineScope(Dispatchers.IO).async(start = LAZY) {
        Kassa.load()
        Kassa.logTo { event -> Log.d("kassa", event.text) }
        newBackend()
    }

    /** The payment that is open. */
    val openPayment: OpenPayment by lazy { StoredPayment(getSharedPreferences("payment", Context.MODE_PRIVATE)) }

    override fun onCreate() {
        super.onCreate()
        backend.start()
    }

    /** A real app has one here that speaks to the merchant's server. */
    protected open suspend fun newBackend(): Backend = DemoBackend()
}
