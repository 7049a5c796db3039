package dev.kassa.shop

import android.app.Application
import dev.kassa.Kassa
import dev.kassa.android.ui.KassaCheckout
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.launch

/** What lives as long as the app. */
open class ShopApplication : Application() {
    /** Where the shop's back end is: here on the computer, by `adb reverse`. */
    protected open val backendUrl: String get() = "http://127.0.0.1:8000"

    val backend: ShopBackend by lazy { ShopBackend(backendUrl) }

    override fun onCreate() {
        super.onCreate()
        // Here, because a sheet that comes back after the system ended the app has nobody else to ask.
        KassaCheckout.renewTokensBy { order -> backend.order(order).clientToken }
        // It takes some tenths of a second, which the sheet then need not wait for.
        CoroutineScope(Dispatchers.IO).launch { Kassa.load() }
    }
}
