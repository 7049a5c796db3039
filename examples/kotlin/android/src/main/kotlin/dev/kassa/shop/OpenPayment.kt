package dev.kassa.shop

import android.content.SharedPreferences
import dev.kassa.PaymentEntry

/** Remembers the payment that is open, also where the phone kills the app without a word. */
interface OpenPayment {
    /**
     * The payment that was not over when it was last heard of.
     *
     * It throws where something is stored and cannot be read. Nothing may be paid then: it could be a payment.
     */
    fun read(): PaymentEntry?

    /** When this returns true, it is on the disk. */
    fun write(entry: PaymentEntry?): Boolean
}

/** In the app's preferences, where no other app can read the address of the payer's page. A [PaymentEntry] has no secret in it. */
class StoredPayment(private val preferences: SharedPreferences) : OpenPayment {
    override fun read(): PaymentEntry? = preferences.getString(KEY, null)?.let(PaymentEntry::parse)

    // commit, not apply: nothing may be sent before it is stored.
    override fun write(entry: PaymentEntry?): Boolean =
        preferences.edit().putString(KEY, entry?.toString()).commit()

    private companion object {
        const val KEY = "open payment"
    }
}
