package dev.kassa.android.ui

import dev.kassa.PaymentMethod

/** What the payer can do. */
internal interface Actions {
    /** Chooses a way to pay from a list: shows its form, or begins it where it has none. */
    fun choose(method: PaymentMethod)

    /** Begins a payment, with what was typed for it. */
    fun pay(method: PaymentMethod)

    /** Confirms with the code that was typed. */
    fun confirm()

    /** Chooses again: another number, or another way to pay. The payment that is open stays so until another one is begun. */
    fun changeMethod()

    /** Goes back to the payment that is open. */
    fun keepMethod()

    /** The page was opened, and the payer is there; or it could not be. */
    fun pageOpened(isAway: Boolean)

    /** Has the gateway asked at once. */
    fun checkNow()
}
