package dev.kassa.shop

import android.app.Application
import android.content.Context
import android.util.Log
import dev.kassa.Kassa
import kotlin.concurrent.thread

/** What lives as long as the app. */
open class ShopApplication : Application() {
    /** A real app has one here that speaks to the merchant's server. */
    open val backend: Backend by lazy { DemoBackend() }

    /** The payment that is open. */
    val openPayment: OpenPayment by lazy { StoredPayment(getSharedPreferences("payment", Context.MODE_PRIVATE)) }

    override fun onCreate() {
        super.onCreate()
        Kassa.logTo { event -> Log.d("kassa", event.text) }
        // It takes some tenths of a second, and not on the thread that draws.
        thread { Kassa.load() }
    }
}
