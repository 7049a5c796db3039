package dev.kassa.android

import android.os.Parcel
import android.os.Parcelable
import dev.kassa.PaymentEntry
import dev.kassa.PaymentException
import dev.kassa.PaymentRef

/**
 * A payment to pass between the parts of an Android app: in an `Intent`, in saved instance state, in a `SavedStateHandle`. A
 * [PaymentEntry] is not [Parcelable] itself, because the class must also load without Android's classes.
 *
 * ```
 * startActivity(Intent(this, PayActivity::class.java).putExtra("payment", ParcelablePayment(created.entry())))
 * // ... there
 * val entry = intent.getParcelableExtra<ParcelablePayment>("payment")?.entry()
 * ```
 *
 * It contains only the entry's text, which [entry] parses: an Intent can be read while Kassa's library is still loading. Cards and
 * requests with card data cannot be written.
 *
 * **Data from another app is only a claim.** Any app can start an exported Activity with any payment: read it only if the component is
 * not exported, and take the rest from your app's own storage.
 *
 * Only the app itself can read it. To the system and to other programs (alarms, widgets, notifications' own processes) give the
 * text, `entry.toString()`.
 */
public class ParcelablePayment private constructor(private val text: String) : Parcelable {
    /** An entry, such as that of an answer. */
    public constructor(entry: PaymentEntry) : this("$entry")

    /** A reference, as that of a request before it is sent: an entry of a payment to which nothing was shown. */
    public constructor(payment: PaymentRef) : this(PaymentEntry(payment))

    /**
     * The payment, and what its payer was shown.
     *
     * @throws PaymentException.Invalid if the text was not written by Kassa, or by another version
     */
    @Throws(PaymentException::class)
    public fun entry(): PaymentEntry = PaymentEntry.parse(text)

    /** For Android: nothing but text is written. */
    override fun describeContents(): Int = 0

    /** For Android, which writes it wherever it is put. */
    override fun writeToParcel(dest: Parcel, flags: Int): Unit = dest.writeString(text)

    override fun equals(other: Any?): Boolean = other is ParcelablePayment && text == other.text

    override fun hashCode(): Int = text.hashCode()

    /** Nothing of it: a `Bundle` that is logged prints what is in it. */
    override fun toString(): String = "ParcelablePayment(***)"

    /** Reads payments. */
    public companion object {
        /** For Android. */
        @JvmField
        public val CREATOR: Parcelable.Creator<ParcelablePayment> = object : Parcelable.Creator<ParcelablePayment> {
            // It must not throw: that would end whoever opens the Intent.
            override fun createFromParcel(source: Parcel) = ParcelablePayment(source.readString().orEmpty())

            override fun newArray(size: Int) = arrayOfNulls<ParcelablePayment>(size)
        }
    }
}
