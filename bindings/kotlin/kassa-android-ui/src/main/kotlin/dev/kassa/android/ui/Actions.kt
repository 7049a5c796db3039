package dev.kassa.android.ui

import dev.kassa.PaymentMethod

/** What the payer can do. */
internal interface Actions {
    /** Chooses a payment method from a list: shows its form, or starts it if it has none. */
    fun choose(method: PaymentMethod)

    /** Starts a payment with the input. */
    fun pay(method: PaymentMethod)

    /** Confirms with the code that was typed. */
    fun confirm()

    /** Chooses again: another number, or another way to pay. The payment that is open stays so until another one is begun. */
    fun changeMethod()

    /** Goes back to the payment that is open. */
    fun keepMethod()

    /** The page was opened, and the payer is there; or it could not be. */
    fun pageOpened(isAway: Boolean)

    /** Queries the gateway at once. */
    fun checkNow()
}
