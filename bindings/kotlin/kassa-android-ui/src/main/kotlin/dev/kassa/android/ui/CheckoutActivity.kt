package dev.kassa.android.ui

import android.content.Intent
import android.graphics.Color
import android.os.Bundle
import androidx.activity.ComponentActivity
import androidx.activity.SystemBarStyle
import androidx.activity.compose.BackHandler
import androidx.activity.compose.setContent
import androidx.activity.enableEdgeToEdge
import androidx.activity.viewModels
import androidx.compose.runtime.LaunchedEffect
import androidx.lifecycle.SavedStateHandle
import androidx.lifecycle.createSavedStateHandle
import androidx.lifecycle.viewmodel.initializer
import androidx.lifecycle.viewmodel.viewModelFactory

/** Behind the bar's white marks, on a phone that has no dark ones. */
private val DARK_SCRIM = Color.argb(0x80, 0x1b, 0x1b, 0x1b)

/** The sheet over the app's screen; [KassaCheckout] launches it. */
internal class CheckoutActivity : ComponentActivity() {
    private val request: KassaCheckout.Request? by lazy { requestOf(intent.extras) }

    private val model: SheetModel by viewModels {
        viewModelFactory { initializer { newModel(checkNotNull(request), createSavedStateHandle()) } }
    }

    override fun onCreate(savedInstanceState: Bundle?) {
        super.onCreate(savedInstanceState)
        val request = request ?: return openApp()
        val device = Phone(this)
        drawBehindBars(request.appearance.theme)
        setContent {
            KassaTheme(request.language, request.appearance) {
                LaunchedEffect(model.isUnusable) { if (model.isUnusable) finish() }
                // What the system does at "back" need not come by here, and the result is set here.
                BackHandler(onBack = ::finish)
                Sheet(request.title, onClose = ::finish) {
                    when (val opened = model.model) {
                        null -> NotOpenedScreen()
                        else -> CheckoutScreen(opened.shown(), opened.typed, model, device, onClose = ::finish)
                    }
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
        if (request != null && !isFinishing) {
            val result = model.result
            setResult(RESULT_OK, Intent().putExtras(result.toBundle()))
            KassaCheckoutEvents.tell(KassaCheckoutEvents.Event.Ended(result))
        }
        super.finish()
    }

    /** Below the sheet, the system's bar has the sheet's colours. */
    private fun drawBehindBars(theme: KassaCheckout.Theme) = when (theme) {
        KassaCheckout.Theme.SYSTEM -> enableEdgeToEdge()
        KassaCheckout.Theme.LIGHT -> enableEdgeToEdge(navigationBarStyle = SystemBarStyle.light(Color.TRANSPARENT, DARK_SCRIM))
        KassaCheckout.Theme.DARK -> enableEdgeToEdge(navigationBarStyle = SystemBarStyle.dark(Color.TRANSPARENT))
    }

    private fun newModel(request: KassaCheckout.Request, saved: SavedStateHandle) =
        SheetModel(request, request.language ?: languageOf(getString(R.string.kassa_language)), saved)

    /** A link came when no sheet was there any more: the payer at least sees the app. */
    private fun openApp() {
        packageManager.getLaunchIntentForPackage(packageName)?.let(::startActivity)
        finish()
    }
}

private fun CheckoutModel.shown() = Shown(state, details, mayHavePaid)
