package dev.kassa.android.ui

import android.content.Intent
import android.os.Bundle
import androidx.activity.ComponentActivity
import androidx.activity.compose.BackHandler
import androidx.activity.compose.setContent
import androidx.activity.enableEdgeToEdge
import androidx.activity.viewModels
import androidx.compose.runtime.LaunchedEffect
import androidx.lifecycle.SavedStateHandle
import androidx.lifecycle.createSavedStateHandle
import androidx.lifecycle.viewmodel.initializer
import androidx.lifecycle.viewmodel.viewModelFactory

/** The sheet over the app's screen; [KassaCheckout] launches it. */
internal class CheckoutActivity : ComponentActivity() {
    private val request: KassaCheckout.Request? by lazy { requestOf(intent.extras) }

    private val model: CheckoutModel by viewModels {
        viewModelFactory { initializer { newModel(checkNotNull(request), createSavedStateHandle()) } }
    }

    override fun onCreate(savedInstanceState: Bundle?) {
        super.onCreate(savedInstanceState)
        val request = request ?: return openApp()
        val device = Phone(this)
        enableEdgeToEdge()
        setContent {
            KassaTheme(request.language, request.colour) {
                LaunchedEffect(model.isUnusable) { if (model.isUnusable) finish() }
                // What the system does at "back" need not come by here, and the result is set here.
                BackHandler(onBack = ::finish)
                Sheet(request.title, onClose = ::finish) {
                    if (model.isOpened) CheckoutScreen(model.shown(), model.typed, model, device, onClose = ::finish) else NotOpenedScreen()
                }
            }
        }
    }

    /** By [ReturnActivity]. The intent that the sheet was launched with stays its own. */
    override fun onNewIntent(intent: Intent) {
        super.onNewIntent(intent)
        if (request != null) model.cameBack()
    }

    override fun onResume() {
        super.onResume()
        if (request != null) model.cameToFront()
    }

    override fun finish() {
        if (request != null) setResult(RESULT_OK, Intent().putExtras(model.result.toBundle()))
        super.finish()
    }

    private fun newModel(request: KassaCheckout.Request, saved: SavedStateHandle) =
        CheckoutModel(request, request.language ?: languageOf(getString(R.string.kassa_language)), saved)

    /** A link came when no sheet was there any more: the payer at least sees the app. */
    private fun openApp() {
        packageManager.getLaunchIntentForPackage(packageName)?.let(::startActivity)
        finish()
    }
}

private fun CheckoutModel.shown() = Shown(state, details, mayHavePaid)
