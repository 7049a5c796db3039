package dev.kassa.android.ui

import android.util.Log
import androidx.compose.runtime.getValue
import androidx.compose.runtime.mutableStateOf
import androidx.compose.runtime.setValue
import androidx.lifecycle.SavedStateHandle
import androidx.lifecycle.ViewModel
import androidx.lifecycle.viewModelScope
import dev.kassa.Checkout
import dev.kassa.CheckoutSettings
import dev.kassa.Language
import dev.kassa.PaymentException
import dev.kassa.PaymentMethod
import dev.kassa.android.ui.KassaCheckoutEvents.Event
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.isActive
import kotlinx.coroutines.launch
import kotlinx.coroutines.withContext

private const val IS_OPENED = "dev.kassa.is_opened"

/**
 * The sheet's model; it survives screen rotations. After the end of the process, the checkout is opened again with the same token, and
 * continues where it was.
 */
internal class SheetModel(
    private val request: KassaCheckout.Request,
    private val language: Language,
    private val saved: SavedStateHandle,
) : ViewModel(), Actions {
    /** The screen's model, as soon as the native library is loaded. */
    var model by mutableStateOf<CheckoutModel?>(null)
        private set

    /** The sheet cannot show this checkout. */
    var isUnusable by mutableStateOf(false)
        private set

    /** The sheet's result if it is closed now. */
    val result: KassaCheckout.Result get() = model?.result ?: KassaCheckout.Result.StillOpen

    init {
        if (!saved.contains(IS_OPENED)) KassaCheckoutEvents.tell(Event.Opened)
        saved[IS_OPENED] = true
        viewModelScope.launch { open() }
    }

    /** The sheet is in front again. */
    fun cameToFront() {
        model?.cameToFront()
    }

    /** The link was followed that brings payers back. */
    fun cameBack() {
        saved[IS_AWAY] = true
        cameToFront()
    }

    override fun choose(method: PaymentMethod) {
        val model = model ?: return
        // A second tap, or one on a list that is a moment behind.
        if (method !in model.methods) return
        KassaCheckoutEvents.tell(Event.MethodChosen(method))
        if (method.hasForm) model.choose(method) else model.pay(method)
    }

    override fun pay(method: PaymentMethod) {
        model?.pay(method)
    }

    override fun confirm() {
        model?.confirm()
    }

    override fun changeMethod() {
        model?.changeMethod()
    }

    override fun keepMethod() {
        model?.keepMethod()
    }

    override fun pageOpened(isAway: Boolean) {
        model?.pageOpened(isAway)
        if (isAway) KassaCheckoutEvents.tell(Event.PageOpened)
    }

    override fun checkNow() {
        model?.checkNow()
    }

    override fun onCleared() {
        model?.close()
    }

    private suspend fun open() {
        // The native library is loaded by the first use of it, which takes some tenths of a second. The sheet may be closed meanwhile: the
        // checkout comes here all the same, so that it is closed, too.
        val checkout = try {
            withContext(NonCancellable) { withContext(Dispatchers.IO) { newCheckout() } }
        } catch (problem: PaymentException) {
            Log.e("kassa", "the checkout cannot be opened: ${problem.message}")
            isUnusable = true
            return
        }
        if (!currentCoroutineContext().isActive) return checkout.close()
        model = CheckoutModel(checkout, language, saved, request.phone, request.method)
    }

    private fun newCheckout(): Checkout {
        val settings = CheckoutSettings(language = language)
        val renewal = KassaCheckout.renewal ?: return Checkout.open(request.serverUrl, request.clientToken, settings)
        return Checkout.open(request.serverUrl, request.clientToken, settings) { renewal(request.reference) }
    }
}
