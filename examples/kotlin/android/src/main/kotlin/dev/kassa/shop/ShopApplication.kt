package dev.kassa.shop

import android.app.Application
import dev.kassa.Kassa
import dev.kassa.android.ui.KassaCheckout
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.launch

/** What lives as long as the app. */
open class ShopApplication : Application() {
    /** The address of the shop's back end: on this computer, through `adb reverse`. */
    protected open val backendUrl: String get() = "http://127.0.0.1:8000"

    val backend: ShopBackend by lazy { ShopBackend(backendUrl) }

    override fun onCreate() {
        super.onCreate()
        // Set here, so that a sheet that is restored after the system ended the app finds it.
        KassaCheckout.renewTokensBy { order -> backend.order(order).clientToken }
        // It takes some tenths of a second, so start it before the sheet needs it.
        CoroutineScope(Dispatchers.IO).launch { Kassa.load() }
    }
}
