package dev.kassa.android.ui

import androidx.compose.runtime.getValue
import androidx.compose.runtime.mutableStateOf
import androidx.compose.runtime.setValue
import androidx.lifecycle.SavedStateHandle
import dev.kassa.CardInput
import dev.kassa.PaymentMethod
import dev.kassa.Violation

private const val PHONE = "dev.kassa.phone"
private const val CHOSEN = "dev.kassa.chosen"

/** No number is longer, and the system ends an app that saves too much. */
internal const val LONGEST_SAVED = 100

/**
 * The payer's input and choice. All of it survives a screen rotation; only phone and choice are also saved if the system ends the app.
 * **Card and code are secrets, and are never saved.**
 */
internal class Typed(private val saved: SavedStateHandle) {
    private var phoneShown by mutableStateOf(saved.get<String>(PHONE).orEmpty())
    private var chosenShown by mutableStateOf(saved.get<String>(CHOSEN)?.let(PaymentMethod::valueOf))

    /** The phone, as it was typed: nothing is left out or cut. */
    var phone: String
        get() = phoneShown
        set(text) {
            phoneShown = text
            saved[PHONE] = text.takeIf { it.length <= LONGEST_SAVED }
        }

    /** What the shop knows is there from the beginning, and only then: a payer who empties the field finds it empty. */
    fun begin(phone: String?) {
        if (phone != null && !saved.contains(PHONE)) this.phone = phone
    }

    /** The way to pay for which something is being typed. */
    var chosen: PaymentMethod?
        get() = chosenShown
        set(method) {
            chosenShown = method
            saved[CHOSEN] = method?.name
        }

    /** The one-time password. */
    var code by mutableStateOf("")

    /** Null as long as nothing of it was typed. */
    var card by mutableStateOf<CardInput?>(null)

    /** What was wrong with the input that was sent last. */
    var violations by mutableStateOf(emptyList<Violation>())

    /** Nothing secret is left. */
    fun forgetSecrets() {
        code = ""
        card = null
    }

    /** What was typed was sent, or the payer has left its form for the list of ways to pay. */
    fun done() {
        forgetSecrets()
        chosen = null
        violations = emptyList()
    }
}
