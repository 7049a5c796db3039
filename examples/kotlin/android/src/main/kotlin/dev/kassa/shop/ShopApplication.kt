package dev.kassa.shop

import android.app.Application
import android.util.Log
import dev.kassa.Credentials
import dev.kassa.Gateway
import dev.kassa.GatewayConfig
import dev.kassa.Kassa
import dev.kassa.android.openJournal
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
    val gateway: Deferred<Gateway> = CoroutineScope(Dispatchers.IO).async(start = LAZY) {
        Kassa.load()
        Kassa.logTo { event -> Log.d("kassa", event.text) }
        Gateway(newConfig(), openJournal())
    }

    override fun onCreate() {
        super.onCreate()
        gateway.start()
    }

    /** The sandbox, with the credentials that everybody knows. **A real app has none**: they also open the merchant's dashboard. */
    protected open suspend fun newConfig() = GatewayConfig("http://127.0.0.1:8400", Credentials("kassa", "sandbox"))
}
