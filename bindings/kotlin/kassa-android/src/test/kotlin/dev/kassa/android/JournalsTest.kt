package dev.kassa.android

import dev.kassa.MbankPayment
import dev.kassa.PaymentException
import dev.kassa.Unfinished
import dev.kassa.testing.FakeFault
import dev.kassa.testing.FakeGateway
import org.junit.Assert.assertEquals
import org.junit.Assert.assertThrows
import org.junit.Test
import org.junit.runner.RunWith
import org.robolectric.RobolectricTestRunner
import org.robolectric.RuntimeEnvironment
import org.robolectric.annotation.Config
import org.robolectric.annotation.ConscryptMode

/** Where an app's journal is. */
@RunWith(RobolectricTestRunner::class)
@Config(sdk = [26])
@ConscryptMode(ConscryptMode.Mode.OFF) // it asks the wrong one of the two Androids which version it is
class JournalsTest {
    private val app = RuntimeEnvironment.getApplication()

    @Test
    fun `app that is started again finds its payment where no backup takes it from`() {
        val fake = FakeGateway()
        fake.failNext(FakeFault.ResponseLost)
        val payment = MbankPayment("order-1", "996555000101", 250, "Tea")
        val gateway = fake.blocking.withJournal(app.openJournal())
        val lost = assertThrows(PaymentException.OutcomeUnknown::class.java) { gateway.createMbankPayment(payment) }

        val again = app.openJournal()
        assertEquals(listOf(lost.payment), again.unfinished().map { (it as Unfinished.Payment).entry.payment })
        val outside = app.dataDir.walk().filter { it.isFile && !it.startsWith(app.noBackupFilesDir) && "order-1" in it.name }
        assertEquals(1, app.noBackupFilesDir.walk().count { it.isFile && "order-1" in it.name })
        assertEquals(0, outside.count())
    }
}
