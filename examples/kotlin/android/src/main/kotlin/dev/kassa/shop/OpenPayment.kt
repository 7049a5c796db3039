package dev.kassa.shop

import android.content.SharedPreferences
import dev.kassa.PaymentRef

/** Remembers the payment that is open, also where the phone kills the app without a word. */
interface OpenPayment {
    /**
     * The payment that was not over when it was last heard of.
     *
     * It throws where something is stored and cannot be read. Nothing may be paid then: it could be a payment.
     */
    fun read(): PaymentRef?

    /** When this returns true, it is on the disk. */
    fun write(payment: PaymentRef?): Boolean
}

/** In the app's preferences. A [PaymentRef] has no secret in it. */
class StoredPayment(private val preferences: SharedPreferences) : OpenPayment {
    override fun read(): PaymentRef? = preferences.getString(KEY, null)?.let(PaymentRef::parse)

    // commit, not apply: nothing may be sent before it is stored.
    override fun write(payment: PaymentRef?): Boolean =
        preferences.edit().putString(KEY, payment?.toString()).commit()

    private companion object {
        const val KEY = "open payment"
    }
}
