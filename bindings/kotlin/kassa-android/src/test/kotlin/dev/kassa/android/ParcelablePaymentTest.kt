package dev.kassa.android

import android.content.Intent
import android.os.Bundle
import android.os.Parcel
import android.os.Parcelable
import dev.kassa.Card
import dev.kassa.CardInput
import dev.kassa.CardPayment
import dev.kassa.Credentials
import dev.kassa.PaymentEntry
import dev.kassa.PaymentException
import dev.kassa.PaymentRef
import org.junit.Assert.assertEquals
import org.junit.Assert.assertFalse
import org.junit.Assert.assertNotEquals
import org.junit.Assert.assertThrows
import org.junit.Assert.assertTrue
import org.junit.Test
import org.junit.runner.RunWith
import org.robolectric.RobolectricTestRunner
import org.robolectric.annotation.Config
import org.robolectric.annotation.ConscryptMode
import java.io.Serializable

/** What Android writes into a parcel and reads from it, as it does between Activities and when it kills an app. */
@Suppress("DEPRECATION") // the ways with a class are of Android 13
@RunWith(RobolectricTestRunner::class)
@Config(sdk = [26])
@ConscryptMode(ConscryptMode.Mode.OFF) // it asks the wrong one of the two Androids which version it is
class ParcelablePaymentTest {
    private val payment = PaymentRef.mbank("order 1&=я", 250)
    private val entry = PaymentEntry(payment, pageUrl = "https://pay.kg/3ds?token=1", qrText = "000201 %")

    @Test
    fun `it travels in an Intent`() {
        val intent = Intent().putExtra("payment", ParcelablePayment(entry))
        val read = sent(intent, Intent.CREATOR).getParcelableExtra<ParcelablePayment>("payment")!!
        assertEquals(entry, read.entry())
        assertEquals(ParcelablePayment(entry), read)
        assertNotEquals(ParcelablePayment(payment), read)
    }

    @Test
    fun `it is saved with an Activity's state, also before it was sent`() {
        val state = Bundle().apply { putParcelable("payment", ParcelablePayment(payment)) }
        assertFalse("order" in "$state")
        val restored = sent(state, Bundle.CREATOR).apply { classLoader = ParcelablePayment::class.java.classLoader }
        assertEquals(PaymentEntry(payment), restored.getParcelable<ParcelablePayment>("payment")!!.entry())
    }

    @Test
    fun `forged one is refused where it is read, and ends nobody before`() {
        val parcel = Parcel.obtain()
        parcel.writeString("$entry".replace("250", "1"))
        parcel.setDataPosition(0)
        val forged = ParcelablePayment.CREATOR.createFromParcel(parcel)
        assertThrows(PaymentException.Invalid::class.java) { forged.entry() }
        val empty = ParcelablePayment.CREATOR.createFromParcel(Parcel.obtain())
        assertThrows(PaymentException.Invalid::class.java) { empty.entry() }
    }

    @Test
    fun `reference travels as what it is, too`() {
        val intent = Intent().putExtra("payment", payment).putExtra("entry", entry)
        val read = sent(intent, Intent.CREATOR)
        assertEquals(payment to entry, read.getSerializableExtra("payment") to read.getSerializableExtra("entry"))
    }

    @Test
    fun `nothing with a card number or a password can be written`() {
        fun canBeWritten(type: Class<*>) =
            Serializable::class.java.isAssignableFrom(type) || Parcelable::class.java.isAssignableFrom(type)
        assertTrue(canBeWritten(PaymentEntry::class.java) && canBeWritten(ParcelablePayment::class.java))
        for (secret in listOf(Card::class, CardInput::class, CardPayment::class, Credentials::class)) {
            assertFalse("$secret", canBeWritten(secret.java))
        }
    }

    /** Through bytes, as between processes. */
    private fun <T : Parcelable> sent(value: T, creator: Parcelable.Creator<T>): T {
        val out = Parcel.obtain().apply { value.writeToParcel(this, 0) }
        val bytes = out.marshall()
        val parcel = Parcel.obtain().apply { unmarshall(bytes, 0, bytes.size) }
        parcel.setDataPosition(0)
        return creator.createFromParcel(parcel)
    }
}
