package dev.kassa.android

import android.os.Parcel
import android.os.Parcelable
import dev.kassa.PaymentEntry
import dev.kassa.PaymentException
import dev.kassa.PaymentRef

/**
 * A payment on its way between the parts of an Android app: in an `Intent`, in saved instance state, in a `SavedStateHandle`. A
 * [PaymentEntry] is no [Parcelable] itself, because the same class has to load where Android's classes are not.
 *
 * ```
 * startActivity(Intent(this, PayActivity::class.java).putExtra("payment", ParcelablePayment(created.entry())))
 * // ... there
 * val entry = intent.getParcelableExtra<ParcelablePayment>("payment")?.entry()
 * ```
 *
 * What is written is the entry's text alone, and it is read by [entry] and not before: an Intent can be opened while Kassa's library
 * is still loading. Nothing with a card number in it can be written: neither a card nor a request that holds one.
 *
 * **What comes from another app is a claim.** Any app can start an exported Activity with a payment of its own choosing: read it only
 * where the component is not exported, and take the rest from what the app has stored.
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
     * @throws PaymentException.Invalid where what came is not what Kassa has written, or another version has written it
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
